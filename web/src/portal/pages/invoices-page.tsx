// The invoices, the newest first.
import Box from "@cloudscape-design/components/box";
import { useLingui } from "@lingui/react/macro";
import { useApi } from "../../api/queries.ts";
import type { components } from "../../api/schema.ts";
import { Amount } from "../../components/amount.tsx";
import { formatCurrency } from "../../components/amount-format.ts";
import { formatDate, formatMonth } from "../../components/month.ts";
import { PageTitle } from "../../components/page-title.tsx";
import { PaymentState, usePaymentText } from "../../components/payment-state.tsx";
import { PdfButton } from "../../components/pdf-button.tsx";
import { RouterLink } from "../../components/router-link.tsx";
import type { Column } from "../../components/server-table.tsx";
import { formatVendor } from "../../components/vendor.ts";
import { useLanguage } from "../../language/language.tsx";
import { BrowserTable } from "../browser-table.tsx";
import { InvoiceState, useStateTexts } from "../invoice-state.tsx";

type Head = components["schemas"]["CustomerInvoiceHead"];

export default function InvoicesPage() {
  const { t } = useLingui();
  const invoices = useApi("/m/portal/invoices");
  return (
    <>
      <PageTitle title={t`Invoices`} />
      <BrowserTable<Head>
        id="portal-invoices"
        title={t`Invoices`}
        columns={useColumns(invoices.data?.some(({ payment }) => payment !== null) ?? false)}
        rows={invoices.data}
        query={invoices}
        rowId={(invoice) => `${invoice.month} ${invoice.vendor}`}
        searchLabel={t`Number or month`}
        empty={t`There is no invoice yet.`}
      />
    </>
  );
}

function listReplaced({ replaced }: Head): string {
  return replaced.map(({ invoice_no }) => invoice_no).join(", ");
}

/** The columns; payments are shown if the reseller shows them. */
function useColumns(hasPayments: boolean): Column<Head>[] {
  const { t } = useLingui();
  const paymentText = usePaymentText();
  const stateTexts = useStateTexts();
  const { language } = useLanguage();
  const amount = (name: "pre_tax" | "tax" | "total", header: string): Column<Head> => ({
    id: name,
    header,
    sort: name,
    numeric: true,
    width: 118,
    hiddenAtFirst: name === "tax",
    cell: (invoice) => (
      <Amount value={invoice[name]} currency={invoice.currency} strong={name === "total"} />
    ),
    csv: (invoice) => String(invoice[name]),
  });
  const payment: Column<Head> = {
    id: "payment",
    header: t({ message: "Payment", context: "of an invoice" }),
    width: 152,
    // it is not among the columns that are shown before the list is loaded
    alwaysVisible: true,
    cell: (invoice) =>
      invoice.payment === null ? "–" : <PaymentState invoice={invoice.payment} />,
    csv: (invoice) => (invoice.payment === null ? "" : paymentText(invoice.payment)),
  };
  return [
    {
      id: "month",
      header: t`Month`,
      sort: "month",
      width: 160,
      alwaysVisible: true,
      cell: ({ month, vendor }) => (
        <RouterLink to={`/invoices/${month}/${vendor}`}>
          {formatMonth(month, language)} {formatVendor(vendor)}
        </RouterLink>
      ),
      csv: (invoice) => `${invoice.month} ${formatVendor(invoice.vendor)}`,
    },
    {
      id: "number",
      header: t`Invoice number`,
      sort: "invoice_no",
      width: 140,
      cell: (invoice) => (
        <>
          {invoice.invoice_no}
          {invoice.replaced[0] !== undefined && (
            <Box variant="small" display="block" color="text-body-secondary">
              {t`replaces ${invoice.replaced[0].invoice_no}`}
            </Box>
          )}
        </>
      ),
      csv: (invoice) => invoice.invoice_no,
    },
    amount("total", t`Total`),
    {
      id: "state",
      header: t`State`,
      sort: "state",
      width: 110,
      cell: (invoice) => <InvoiceState state={invoice.state} />,
      csv: (invoice) => stateTexts[invoice.state],
    },
    ...(hasPayments ? [payment] : []),
    {
      id: "due",
      header: t`Due date`,
      sort: "due_date",
      width: 132,
      cell: ({ due_date: due }) => (due === null ? "–" : formatDate(due, language)),
      csv: (invoice) => invoice.due_date ?? "",
    },
    {
      id: "pdf",
      header: t`PDF`,
      width: 70,
      cell: ({ month, vendor, invoice_no }) => (
        <PdfButton
          address="/m/portal/invoices/{month}/{vendor}/pdf"
          path={{ month, vendor }}
          name={invoice_no}
          label={t`PDF of ${invoice_no}`}
        />
      ),
      csv: () => "",
    },
    amount("pre_tax", t`Before tax`),
    amount("tax", t`Tax`),
    {
      id: "issued",
      header: t`Issued`,
      sort: "issue_date",
      width: 125,
      hiddenAtFirst: true, // the page of the invoice shows it
      cell: (invoice) => formatDate(invoice.issue_date, language),
      csv: (invoice) => invoice.issue_date,
    },
    {
      // searching for the number of a replaced invoice finds the one in its place
      id: "replaces",
      header: t`Replaces`,
      width: 140,
      hiddenAtFirst: true,
      cell: listReplaced,
      csv: listReplaced,
    },
    {
      id: "currency",
      header: t`Currency`,
      width: 85,
      hiddenAtFirst: true, // every amount shows it
      cell: (invoice) => formatCurrency(invoice.currency),
      csv: (invoice) => formatCurrency(invoice.currency),
    },
  ];
}
