// The title of the browser's window.
import { useEffect } from "react";

export function PageTitle({ title }: { title: string }) {
  useEffect(() => {
    document.title = `${title} | Nimbill`;
  }, [title]);
  return null;
}
