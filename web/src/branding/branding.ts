// The reseller's name, colour and logo, which the portal shows.
import { createContext, useContext, useEffect, useState } from "react";
import type { components } from "../api/schema.ts";

export type Branding = components["schemas"]["Branding"];

/** The name in the title of the browser's window. */
const ProductName = createContext("Nimbill");
export const ProductNameProvider = ProductName.Provider;

export function useProductName(): string {
  return useContext(ProductName);
}

export function isBranded(branding: Branding): boolean {
  return [branding.name, branding.colour, branding.logo].some((part) => (part ?? null) !== null);
}

/** The branding that everybody may see, for pages before the sign-in; nothing until it is read. */
export function usePublicBranding(organisation: string): Branding | undefined {
  const [branding, setBranding] = useState<Branding>();
  useEffect(() => {
    if (organisation === "") return;
    const controller = new AbortController();
    fetch(`/portal-branding/${encodeURIComponent(organisation)}`, { signal: controller.signal })
      .then((response) => (response.ok ? response.json() : undefined))
      .then(setBranding)
      // without an answer the page looks as it does for everybody
      .catch(() => undefined);
    return () => controller.abort();
  }, [organisation]);
  return branding;
}
