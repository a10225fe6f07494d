// Sends the invoices of a month: what would be mailed to whom, and what became of each mail.
import ContentLayout from "@cloudscape-design/components/content-layout";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import { useParams } from "react-router";
import { formatMonth } from "../../../components/month.ts";
import { PageTitle } from "../../../components/page-title.tsx";
import { RouterLink } from "../../../components/router-link.tsx";
import { formatVendor } from "../../../components/vendor.ts";
import { useLanguage } from "../../../language/language.tsx";
import { useMay } from "../../me.ts";
import { DeliveriesTable } from "./deliveries-table.tsx";
import { SendInvoices } from "./send-invoices.tsx";
import { UnreadyMonth } from "./unready-month.tsx";

export default function SendingPage() {
  const { month = "", vendor = "" } = useParams();
  const { t } = useLingui();
  const { language } = useLanguage();
  const mayChange = useMay()("ModifyInvoice");
  const title = t`Send the invoices of ${formatMonth(month, language)} (${formatVendor(vendor)})`;
  return (
    <ContentLayout
      header={
        <Header
          variant="h1"
          description={t`Each customer receives one mail. A sent invoice does not change any more.`}
          actions={
            <RouterLink to={`/months/${month}/${vendor}`}>
              <Trans>Steps of the month</Trans>
            </RouterLink>
          }
        >
          {title}
        </Header>
      }
    >
      <PageTitle title={title} />
      <SpaceBetween size="l">
        {mayChange && <UnreadyMonth month={month} vendor={vendor} />}
        {mayChange && <SendInvoices key={`${month}${vendor}`} month={month} vendor={vendor} />}
        <DeliveriesTable month={month} vendor={vendor} />
      </SpaceBetween>
    </ContentLayout>
  );
}
