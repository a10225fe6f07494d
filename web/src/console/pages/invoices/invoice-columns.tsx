// The columns of the list of invoices.
import Popover from "@cloudscape-design/components/popover";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import { useLingui } from "@lingui/react/macro";
import type { Decimal } from "../../../api/exact-json.ts";
import { Amount } from "../../../components/amount.tsx";
import { RouterLink } from "../../../components/router-link.tsx";
import type { Column } from "../../../components/server-table.tsx";
import { useWarningTexts } from "./invoice-warnings.ts";
import type { ShortInvoice } from "./invoices-page.tsx";

export function useInvoiceColumns(month: string, vendor: string): Column<ShortInvoice>[] {
  const { t } = useLingui();
  const warningTexts = useWarningTexts();
  const amount = (value: Decimal | null, row: ShortInvoice, strong = false) =>
    row.currency === null ? (
      ""
    ) : (
      <Amount value={value} currency={row.currency.toUpperCase()} strong={strong} />
    );
  const stateText = (row: ShortInvoice) => {
    if (row.invoice_no === null) return t`No invoice`;
    if (row.warnings.length === 0) return t({ message: "Created", context: "invoice" });
    return row.warnings.map((code) => warningTexts[code].short).join(" ");
  };
  return [
    {
      id: "billinggroup_name",
      header: t`Customer`,
      cell: (row) => (
        <RouterLink
          to={
            row.invoice_no === null
              ? `/customers/${row.company_id}`
              : `/invoices/${month}/${row.company_id}/${vendor}`
          }
        >
          {row.billinggroup_name}
        </RouterLink>
      ),
      csv: (row) => row.billinggroup_name,
      sort: "billinggroup_name",
      width: 185,
      alwaysVisible: true,
    },
    {
      id: "billinggroup_id",
      header: t`ID`,
      cell: (row) => row.billinggroup_id,
      csv: (row) => row.billinggroup_id,
      sort: "billinggroup_id",
      width: 110,
    },
    {
      id: "invoice_no",
      header: t`Invoice no.`,
      cell: (row) => row.invoice_no ?? "",
      csv: (row) => row.invoice_no ?? "",
      sort: "invoice_no",
      width: 150,
    },
    {
      id: "state",
      header: t`State`,
      cell: (row) => <InvoiceState row={row} text={stateText(row)} />,
      csv: stateText,
      width: 120,
    },
    {
      id: "currency",
      header: t`Currency`,
      cell: (row) => row.currency?.toUpperCase() ?? "",
      csv: (row) => row.currency?.toUpperCase() ?? "",
      width: 100,
    },
    {
      id: "pre_tax",
      header: t`Before tax`,
      cell: (row) => amount(row.pre_tax, row),
      csv: (row) => String(row.pre_tax ?? ""),
      sort: "pre_tax",
      numeric: true,
      width: 140,
    },
    {
      id: "tax",
      header: t`Tax`,
      cell: (row) => amount(row.tax, row),
      csv: (row) => String(row.tax ?? ""),
      numeric: true,
      width: 120,
    },
    {
      id: "total",
      header: t`Total`,
      cell: (row) => amount(row.total, row, true),
      csv: (row) => String(row.total ?? ""),
      sort: "total",
      numeric: true,
      width: 140,
    },
  ];
}

function InvoiceState({ row, text }: { row: ShortInvoice; text: string }) {
  const warningTexts = useWarningTexts();
  if (row.invoice_no === null) return <StatusIndicator type="pending">{text}</StatusIndicator>;
  if (row.warnings.length === 0) return <StatusIndicator type="success">{text}</StatusIndicator>;
  return (
    <Popover content={row.warnings.map((code) => warningTexts[code].text).join("\n")}>
      <StatusIndicator type="warning">{text}</StatusIndicator>
    </Popover>
  );
}
