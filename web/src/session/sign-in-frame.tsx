// The frame of the pages that are shown before somebody has signed in.
import Box from "@cloudscape-design/components/box";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useLingui } from "@lingui/react/macro";
import { type ReactNode, useEffect } from "react";
import type { Product } from "../api/client.ts";
import { LanguageSwitch } from "../language/language-switch.tsx";
import "./sign-in-page.css";

export function SignInFrame({ product, children }: { product: Product; children: ReactNode }) {
  const { t } = useLingui();
  const title = product === "portal" ? t`Customer portal` : t`Reseller console`;

  useEffect(() => {
    document.title = `${title} | Nimbill`;
  }, [title]);

  return (
    <main className="sign-in">
      <SpaceBetween size="l">
        <Box textAlign="center">
          <Box variant="h1" fontSize="display-l">
            Nimbill
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
