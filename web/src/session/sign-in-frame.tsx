// The frame of the pages that are shown before somebody has signed in.
import Box from "@cloudscape-design/components/box";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useLingui } from "@lingui/react/macro";
import { type ReactNode, useEffect, useState } from "react";
import type { Product } from "../api/client.ts";
import { BrandStrip } from "../branding/brand-strip.tsx";
import { isBranded, usePublicBranding } from "../branding/branding.ts";
import { LanguageSwitch } from "../language/language-switch.tsx";
import { readOrganisation } from "./remembered-organisation.ts";
import "./sign-in-page.css";

export function SignInFrame({ product, children }: { product: Product; children: ReactNode }) {
  const { t } = useLingui();
  const title = product === "portal" ? t`Customer portal` : t`Reseller console`;

  const [organisation] = useState(readOrganisation);
  const branding = usePublicBranding(product === "portal" ? organisation : "");
  const name = branding?.name ?? "Nimbill";

  useEffect(() => {
    document.title = `${title} | ${name}`;
  }, [title, name]);

  return (
    <main className="sign-in">
      <SpaceBetween size="l">
        {branding !== undefined && isBranded(branding) && <BrandStrip branding={branding} />}
        <Box textAlign="center">
          <Box variant="h1" fontSize="display-l">
            {name}
          </Box>
          <Box color="text-body-secondary">{title}</Box>
        </Box>
        {children}
        <Box textAlign="center">
          <LanguageSwitch />
        </Box>
      </SpaceBetween>
    </main>
  );
}
