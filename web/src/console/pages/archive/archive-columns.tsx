// The columns of the archive.
import { useLingui } from "@lingui/react/macro";
import { Amount } from "../../../components/amount.tsx";
import { formatCurrency } from "../../../components/amount-format.ts";
import { formatDate, formatMonth } from "../../../components/month.ts";
import { PdfButton } from "../../../components/pdf-button.tsx";
import { RouterLink } from "../../../components/router-link.tsx";
import type { Column } from "../../../components/server-table.tsx";
import { formatVendor } from "../../../components/vendor.ts";
import { useLanguage } from "../../../language/language.tsx";
import type { ArchivedDocument } from "./archive-page.tsx";

export function useArchiveColumns(): Column<ArchivedDocument>[] {
  const { t } = useLingui();
  const { language } = useLanguage();
  const kinds = { invoice: t`Invoice`, credit_note: t`Credit note` };
  const states = {
    created: t({ message: "Not sent", context: "invoice" }),
    sent: t({ message: "Sent", context: "invoice" }),
    credited: t({ message: "Credited in full", context: "invoice" }),
    replaced: t({ message: "Replaced", context: "invoice" }),
    cancelled: t({ message: "Cancelled", context: "invoice" }),
    issued: t({ message: "Issued", context: "credit note" }),
  };
  return [
    {
      id: "number",
      header: t`Number`,
      cell: (row) => (
        <RouterLink to={`/invoices/${row.month}/${row.company_id}/${row.vendor}`}>
          {row.number}
        </RouterLink>
      ),
      csv: (row) => row.number,
      width: 135,
      alwaysVisible: true,
    },
    {
      id: "kind",
      header: t`Kind`,
      cell: (row) => kinds[row.kind],
      csv: (row) => kinds[row.kind],
      width: 110,
    },
    {
      id: "issue_date",
      header: t`Issued`,
      cell: (row) => formatDate(row.issue_date, language),
      csv: (row) => row.issue_date,
      sort: "issue_date",
      width: 135,
    },
    {
      id: "counterparty",
      header: t`Name on the document`,
      cell: (row) => row.counterparty,
      csv: (row) => row.counterparty,
      sort: "counterparty",
      width: 220,
    },
    {
      id: "total",
      header: t`Total`,
      cell: (row) => <Amount value={row.total} currency={row.currency} strong />,
      csv: (row) => String(row.total),
      sort: "total",
      numeric: true,
      width: 130,
    },
    {
      id: "currency",
      header: t`Currency`,
      cell: (row) => formatCurrency(row.currency),
      csv: (row) => formatCurrency(row.currency),
      width: 85,
      hiddenAtFirst: true, // every amount shows it
    },
    {
      id: "state",
      header: t`State`,
      cell: (row) => states[row.state],
      csv: (row) => states[row.state],
      width: 110,
    },
    {
      id: "month",
      header: t`Month`,
      cell: (row) => `${formatMonth(row.month, language)} ${formatVendor(row.vendor)}`,
      csv: (row) => `${row.month} ${formatVendor(row.vendor)}`,
      width: 160,
    },
    {
      id: "pdf",
      header: "PDF",
      cell: (row) => <PdfButton {...printedFile(row)} label={t`Save ${row.number} as PDF`} />,
      csv: () => "",
      width: 70,
    },
  ];
}

function printedFile(row: ArchivedDocument) {
  if (row.credit_note_id !== null)
    return {
      address: "/m/core/credit-notes/{credit_note_id}/pdf" as const,
      path: { credit_note_id: row.credit_note_id },
      name: row.number,
    };
  const { month, company_id, vendor } = row;
  return {
    address: "/m/core/invoices/{month}/{company_id}/{vendor}/revisions/{revision}/pdf" as const,
    path: { month, company_id, vendor, revision: String(row.revision) },
    name: row.number,
  };
}
