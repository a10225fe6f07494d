// Shows a page only to people who may open it.

import Alert from "@cloudscape-design/components/alert";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import { type ComponentType, createElement } from "react";
import { PageTitle } from "../components/page-title.tsx";
import { Redirect } from "../components/redirect.tsx";
import { useSession } from "../session/session.tsx";
import { useNavigationItems } from "./navigation.tsx";

export function Guard({ path, page }: { path: string; page: ComponentType }) {
  const pages = useNavigationItems().flatMap((group) => group.pages);
  if (!pages.some((each) => each.path === path)) return <NotAvailable />;
  return createElement(page);
}

/** A page about one's own login, which a member of staff does not have here. */
export function Personal({ page }: { page: ComponentType }) {
  return useSession().viewing ? <NotAvailable /> : createElement(page);
}

export function NotAvailable() {
  const { t } = useLingui();
  return (
    <SpaceBetween size="m">
      <PageTitle title={t`Not available`} />
      <Header variant="h1">
        <Trans>Not available</Trans>
      </Header>
      <Alert type="info">
        <Trans>
          This page is not available to you. Ask your administrator or your provider to enable it.
        </Trans>
      </Alert>
    </SpaceBetween>
  );
}

/** Opens the first page that the person may see. */
export function Start() {
  const first = useNavigationItems()[0]?.pages[0];
  return first === undefined ? <NotAvailable /> : <Redirect to={first.path} />;
}
