// Light or dark, as the system says until the user chooses.
import { applyMode, Mode } from "@cloudscape-design/global-styles";
import { useEffect, useState } from "react";

const STORAGE_KEY = "nimbill-theme";

export function useTheme(): { dark: boolean; setDark: (dark: boolean) => void } {
  const [dark, setDark] = useState(() => {
    const stored = localStorage.getItem(STORAGE_KEY);
    return stored === null ? matchMedia("(prefers-color-scheme: dark)").matches : stored === "dark";
  });
  useEffect(() => {
    applyMode(dark ? Mode.Dark : Mode.Light);
  }, [dark]);
  return {
    dark,
    setDark: (chosen) => {
      localStorage.setItem(STORAGE_KEY, chosen ? "dark" : "light");
      setDark(chosen);
    },
  };
}
