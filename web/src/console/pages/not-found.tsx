// Shown for an address without a page.
import Alert from "@cloudscape-design/components/alert";
import { Trans, useLingui } from "@lingui/react/macro";
import { PageTitle } from "../../components/page-title.tsx";
import { RouterLink } from "../../components/router-link.tsx";

export function NotFoundPage() {
  const { t } = useLingui();
  return (
    <>
      <PageTitle title={t`No such page`} />
      <Alert type="warning" header={t`There is no page at this address.`}>
        <RouterLink to="/months">
          <Trans>Go to the months</Trans>
        </RouterLink>
      </Alert>
    </>
  );
}
