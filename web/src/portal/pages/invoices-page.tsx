// The invoices, the newest first.
import Button from "@cloudscape-design/components/button";
import { useLingui } from "@lingui/react/macro";
import { useApi } from "../../api/queries.ts";
import type { components } from "../../api/schema.ts";
import { Amount } from "../../components/amount.tsx";
import { formatCurrency } from "../../components/amount-format.ts";
import { formatMonth } from "../../components/month.ts";
import { PageTitle } from "../../components/page-title.tsx";
import { RouterLink } from "../../components/router-link.tsx";
import type { Column } from "../../components/server-table.tsx";
import { formatVendor } from "../../components/vendor.ts";
import { useLanguage } from "../../language/language.tsx";
import { BrowserTable } from "../browser-table.tsx";
import { useDownload } from "../download.ts";

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
        columns={useColumns()}
        rows={invoices.data}
        query={invoices}
        rowId={(invoice) => `${invoice.month} ${invoice.vendor}`}
        searchLabel={t`Number or month`}
        empty={t`There is no invoice yet.`}
      />
    </>
  );
}

function useColumns(): Column<Head>[] {
  const { t } = useLingui();
  const { language } = useLanguage();
  const download = useDownload();
  const amount = (name: "pre_tax" | "tax" | "total", header: string): Column<Head> => ({
    id: name,
    header,
    sort: name,
    numeric: true,
    width: 125,
    cell: (invoice) => (
      <Amount value={invoice[name]} currency={invoice.currency} strong={name === "total"} />
    ),
    csv: (invoice) => String(invoice[name]),
  });
  return [
    {
      id: "month",
      header: t`Month`,
      sort: "month",
      width: 150,
      alwaysVisible: true,
      cell: ({ month, vendor }) => (
        <RouterLink to={`/invoices/${month}/${vendor}`}>
          {formatMonth(month, language)} {formatVendor(vendor)}
        </RouterLink>
      ),
      csv: (invoice) => `${invoice.month} ${formatVendor(invoice.vendor)}`,
    },
    amount("total", t`Total`),
    amount("pre_tax", t`Before tax`),
    amount("tax", t`Tax`),
    {
      id: "due",
      header: t`Due date`,
      sort: "due_date",
      width: 130,
      cell: (invoice) => invoice.due_date ?? "–",
      csv: (invoice) => invoice.due_date ?? "",
    },
    {
      id: "issued",
      header: t`Issued`,
      sort: "issue_date",
      width: 130,
      cell: (invoice) => invoice.issue_date,
      csv: (invoice) => invoice.issue_date,
    },
    {
      id: "number",
      header: t`Number`,
      sort: "invoice_no",
      width: 140,
      cell: (invoice) => invoice.invoice_no,
      csv: (invoice) => invoice.invoice_no,
    },
    {
      id: "pdf",
      header: t`Print`,
      width: 95,
      cell: ({ month, vendor, invoice_no }) => (
        <Button
          variant="inline-link"
          iconName="download"
          ariaLabel={t`PDF of ${invoice_no}`}
          onClick={() =>
            download.mutate({
              address: "/m/portal/invoices/{month}/{vendor}/pdf",
              name: `${invoice_no}.pdf`,
              path: { month, vendor },
            })
          }
        >
          PDF
        </Button>
      ),
      csv: () => "",
    },
    {
      id: "currency",
      header: t`Currency`,
      width: 85,
      cell: (invoice) => formatCurrency(invoice.currency),
      csv: (invoice) => formatCurrency(invoice.currency),
    },
  ];
}
