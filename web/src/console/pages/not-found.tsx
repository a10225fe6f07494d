// Shown for an address without a page.
import Alert from "@cloudscape-design/components/alert";
import ContentLayout from "@cloudscape-design/components/content-layout";
import Header from "@cloudscape-design/components/header";
import { Trans, useLingui } from "@lingui/react/macro";
import { PageTitle } from "../../components/page-title.tsx";
import { RouterLink } from "../../components/router-link.tsx";

export function NotFoundPage() {
  const { t } = useLingui();
  return (
    <>
      <PageTitle title={t`No such page`} />
      <ContentLayout header={<Header variant="h1">{t`No such page`}</Header>}>
        <Alert type="warning" header={t`There is no page at this address.`}>
          <RouterLink to="/">
            <Trans>Go to the first page</Trans>
          </RouterLink>
        </Alert>
      </ContentLayout>
    </>
  );
}
