// Whether the window has the width of a phone, where a table would hide its amounts at the side.
import { useSyncExternalStore } from "react";

const NARROW = matchMedia("(max-width: 688px)"); // where Cloudscape changes its own layout

function subscribe(onChange: () => void) {
  NARROW.addEventListener("change", onChange);
  return () => NARROW.removeEventListener("change", onChange);
}

export function useIsNarrow(): boolean {
  return useSyncExternalStore(subscribe, () => NARROW.matches);
}
