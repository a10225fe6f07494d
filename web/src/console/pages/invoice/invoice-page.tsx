// One invoice: as printed on the left, why this amount on the right.

import ColumnLayout from "@cloudscape-design/components/column-layout";
import Container from "@cloudscape-design/components/container";
import ContentLayout from "@cloudscape-design/components/content-layout";
import Grid from "@cloudscape-design/components/grid";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Tabs from "@cloudscape-design/components/tabs";
import { Trans, useLingui } from "@lingui/react/macro";
import { useParams, useSearchParams } from "react-router";
import { useApi } from "../../../api/queries.ts";
import type { components } from "../../../api/schema.ts";
import { formatCurrency } from "../../../components/amount-format.ts";
import { formatMonth } from "../../../components/month.ts";
import { PageTitle } from "../../../components/page-title.tsx";
import { QueryState } from "../../../components/query-state.tsx";
import { RouterLink } from "../../../components/router-link.tsx";
import { formatVendor } from "../../../components/vendor.ts";
import { useVisibleTab } from "../../../components/visible-tab.ts";
import { useLanguage } from "../../../language/language.tsx";
import { AuditLink } from "../../audit-link.tsx";
import { CorrectionPanel } from "./correction-panel.tsx";
import { CreditNotes } from "./credit-notes.tsx";
import { Figure } from "./figure.tsx";
import { InvoiceComparison } from "./invoice-comparison.tsx";
import { InvoiceExplanation } from "./invoice-explanation.tsx";
import { InvoiceMails } from "./invoice-mails.tsx";
import { InvoiceRevisions } from "./invoice-revisions.tsx";
import { InvoiceState } from "./invoice-state.tsx";
import { Payments } from "./payments.tsx";
import { PrintedInvoice } from "./printed-invoice.tsx";

export type InvoiceDocument = components["schemas"]["InvoiceDocument"];

/** Names an invoice in paths of the API. */
export interface InvoicePath extends Record<string, string> {
  month: string;
  company_id: string;
  vendor: string;
}

export default function InvoicePage() {
  const { month = "", company = "", vendor = "" } = useParams();
  const path = { month, company_id: company, vendor };
  const invoice = useApi("/m/core/invoices/{month}/{company_id}/{vendor}", { path });
  const { t } = useLingui();
  return (
    <>
      <PageTitle title={invoice.data?.invoice_no ?? t`Invoice`} />
      <QueryState query={invoice}>
        {(loaded) => (
          <OneInvoice key={`${month}${company}${vendor}`} path={path} invoice={loaded} />
        )}
      </QueryState>
    </>
  );
}

function OneInvoice({ path, invoice }: { path: InvoicePath; invoice: InvoiceDocument }) {
  const { t } = useLingui();
  const { language } = useLanguage();
  const { month, company_id, vendor } = path;
  return (
    <ContentLayout
      header={
        <Header
          variant="h1"
          description={`${formatMonth(month, language)} ${formatVendor(vendor)} ${invoice.invoice_no}`}
          actions={
            <SpaceBetween direction="horizontal" size="m" alignItems="center">
              <RouterLink to={`/customers/${company_id}`}>
                <Trans>Customer</Trans>
              </RouterLink>
              <RouterLink to={`/customers/${company_id}/terms/${vendor}`}>
                <Trans>Terms</Trans>
              </RouterLink>
              <RouterLink to={`/invoices/${month}?vendor=${vendor}`}>
                <Trans>Invoices of this month</Trans>
              </RouterLink>
              <AuditLink company={company_id} search={month} />
            </SpaceBetween>
          }
        >
          {t`Invoice of ${invoice.billinggroup_name}`}
        </Header>
      }
    >
      <Grid
        gridDefinition={[
          { colspan: { default: 12, m: 5 }, push: { m: 0 } },
          { colspan: { default: 12, m: 7 } },
        ]}
      >
        <PrintedInvoice path={path} invoice={invoice} />
        <SpaceBetween size="l">
          <InvoiceState path={path} invoice={invoice} />
          <Totals invoice={invoice} />
          <Panels path={path} invoice={invoice} />
        </SpaceBetween>
      </Grid>
    </ContentLayout>
  );
}

function Totals({ invoice }: { invoice: InvoiceDocument }) {
  const { t } = useLingui();
  const { sheet } = invoice;
  const currency = formatCurrency(invoice.currency);
  return (
    <Container>
      <ColumnLayout columns={3} variant="text-grid" minColumnWidth={130}>
        <Figure label={t`Before tax`} value={sheet.pre_tax} currency={currency} />
        <Figure label={t`Tax`} value={sheet.tax} currency={currency} />
        <Figure label={t`Total`} value={sheet.total} currency={currency} strong />
      </ColumnLayout>
    </Container>
  );
}

function Panels({ path, invoice }: { path: InvoicePath; invoice: InvoiceDocument }) {
  const { t } = useLingui();
  const [params, setParams] = useSearchParams();
  const chosen = params.get("tab") ?? "change";
  return (
    <div ref={useVisibleTab(chosen)}>
      <Tabs
        variant="container"
        ariaLabel={t`Why this amount`}
        activeTabId={chosen}
        onChange={({ detail }) => setParams({ tab: detail.activeTabId }, { replace: true })}
        tabs={[
          {
            id: "change",
            label: t({ message: "Changes", context: "invoice" }),
            content: <InvoiceComparison path={path} />,
          },
          {
            id: "amounts",
            label: t({ message: "Calculation", context: "invoice" }),
            content: <InvoiceExplanation path={path} />,
          },
          {
            id: "payments",
            label: t`Payments`,
            content: <Payments path={path} />,
          },
          {
            id: "correction",
            label: t({ message: "Correction", context: "invoice" }),
            content: <CorrectionPanel path={path} invoice={invoice} />,
          },
          {
            id: "credit-notes",
            label: t`Credit notes`,
            content: <CreditNotes path={path} invoice={invoice} />,
          },
          {
            id: "mails",
            label: t`Mails`,
            content: <InvoiceMails path={path} invoice={invoice} />,
          },
          {
            id: "revisions",
            label: t`Revisions`,
            content: <InvoiceRevisions path={path} invoice={invoice} />,
          },
        ]}
      />
    </div>
  );
}
