// The strip with the reseller's logo and name on its colour.
import { type CSSProperties, useEffect } from "react";
import type { Branding } from "./branding.ts";
import "./brand-strip.css";

/** The colour comes from a style sheet of the service, which the content security policy allows. */
export function BrandStrip({ branding }: { branding: Branding }) {
  useStyleSheet(branding.style ?? undefined);
  return <Strip branding={branding} />;
}

/** Shows a colour that is not saved yet. */
export function BrandPreview({ branding }: { branding: Branding }) {
  const style = { "--portal-colour": branding.colour ?? undefined } as CSSProperties;
  return (
    <div style={style}>
      <Strip branding={branding} />
    </div>
  );
}

function Strip({ branding }: { branding: Branding }) {
  return (
    <section className="brand-strip" aria-label={branding.name ?? "Nimbill"}>
      {branding.logo && <img className="brand-logo" src={branding.logo} alt="" />}
      {branding.name && <span>{branding.name}</span>}
    </section>
  );
}

function useStyleSheet(address: string | undefined): void {
  useEffect(() => {
    if (address === undefined) return;
    const link = document.createElement("link");
    link.rel = "stylesheet";
    link.href = address;
    document.head.append(link);
    return () => link.remove();
  }, [address]);
}
