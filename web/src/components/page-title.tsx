// The title of the browser's window.
import { useEffect } from "react";
import { useProductName } from "../branding/branding.ts";

export function PageTitle({ title }: { title: string }) {
  const product = useProductName();
  useEffect(() => {
    document.title = `${title} | ${product}`;
  }, [title, product]);
  return null;
}
