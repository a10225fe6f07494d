// The frame of every page of the portal: top bar, navigation, messages.
import Alert from "@cloudscape-design/components/alert";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import { useEffect } from "react";
import { Outlet } from "react-router";
import { BrandStrip } from "../branding/brand-strip.tsx";
import { isBranded, ProductNameProvider } from "../branding/branding.ts";
import { ConsoleFrame } from "../components/console-frame.tsx";
import { QueryState } from "../components/query-state.tsx";
import { useLanguage } from "../language/language.tsx";
import { useMe } from "./me.ts";
import { useNavigationItems } from "./navigation.tsx";
import { ViewBanner } from "./view-banner.tsx";

export function Layout() {
  const { t } = useLingui();
  const me = useMe();
  const { suggestLanguage } = useLanguage();
  const language = me.data?.language;
  useEffect(() => {
    if (language !== undefined) suggestLanguage(language);
  }, [language, suggestLanguage]);
  const company = me.data?.company?.billinggroup_name;
  const view = me.data?.view ?? undefined;
  const branding = me.data?.branding;
  const branded = branding !== undefined && isBranded(branding);
  const frame = (
    <ConsoleFrame
      title={t`Customer portal`}
      items={useNavigationItems()}
      {...(company !== undefined && { description: company })}
      {...(branded && { brand: <BrandStrip branding={branding} /> })}
      {...(view !== undefined && { banner: <ViewBanner view={view} company={company ?? ""} /> })}
    >
      <QueryState query={me}>
        {({ flags }) => (flags === null ? <ForCustomers /> : <Outlet />)}
      </QueryState>
    </ConsoleFrame>
  );
  return <ProductNameProvider value={branding?.name ?? "Nimbill"}>{frame}</ProductNameProvider>;
}

/** Staff of the reseller have no company of their own, so there is nothing to show. */
function ForCustomers() {
  return (
    <SpaceBetween size="m">
      <Header variant="h1">
        <Trans>Customer portal</Trans>
      </Header>
      <Alert type="info">
        <Trans>
          These pages are for customers. You belong to the reseller: use the reseller console.
        </Trans>
      </Alert>
    </SpaceBetween>
  );
}
