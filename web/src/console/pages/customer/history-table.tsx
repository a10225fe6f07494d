// The invoices of a customer by month: amount, vendor cost, margin, number and state.
import Header from "@cloudscape-design/components/header";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import { Trans, useLingui } from "@lingui/react/macro";
import type { Decimal } from "../../../api/exact-json.ts";
import { Amount } from "../../../components/amount.tsx";
import { formatCurrency, formatRate } from "../../../components/amount-format.ts";
import { CsvButton } from "../../../components/csv-button.tsx";
import { formatMonth } from "../../../components/month.ts";
import { RouterLink } from "../../../components/router-link.tsx";
import { SmallTable } from "../../../components/small-table.tsx";
import { formatVendor } from "../../../components/vendor.ts";
import { useLanguage } from "../../../language/language.tsx";
import type { CustomerMonth } from "./customer-history.tsx";

export function HistoryTable({ company, months }: { company: string; months: CustomerMonth[] }) {
  const { t } = useLingui();
  const { language } = useLanguage();
  const sorted = [...months].sort(
    (a, b) => b.month.localeCompare(a.month) || a.vendor.localeCompare(b.vendor),
  );
  const amount = (id: string, header: string, read: (row: CustomerMonth) => Decimal) => ({
    id,
    header,
    numeric: true,
    cell: (row: CustomerMonth) => <Amount value={read(row)} currency={row.currency} />,
  });
  const csvColumns: [string, (row: CustomerMonth) => string][] = [
    [t`Month`, (row) => row.month],
    [t`Vendor`, (row) => formatVendor(row.vendor)],
    [t`Currency`, (row) => formatCurrency(row.currency)],
    [t`Invoiced`, (row) => String(row.pre_tax)],
    [t`Vendor's costs`, (row) => String(row.vendor_cost)],
    [t`Margin`, (row) => String(row.margin)],
    [t`Margin rate`, (row) => String(row.margin_rate ?? "")],
    [t`Total with tax`, (row) => String(row.total)],
    [t`Invoice number`, (row) => row.invoice_no],
    [t`State`, (row) => (row.state === "closed" ? t`closed` : t`open`)],
  ];
  return (
    <SmallTable
      compact
      items={sorted}
      trackBy={(row) => `${row.month} ${row.vendor}`}
      label={t`Invoices of the last twelve months`}
      header={
        <Header
          variant="h2"
          counter={`(${months.length})`}
          actions={<CsvButton name="customer-invoices" rows={sorted} columns={csvColumns} />}
        >
          <Trans>Invoices</Trans>
        </Header>
      }
      columns={[
        {
          id: "month",
          header: t`Month`,
          minWidth: 145,
          isRowHeader: true,
          cell: (row) => (
            <RouterLink to={`/invoices/${row.month}/${company}/${row.vendor}`}>
              {formatMonth(row.month, language)}
            </RouterLink>
          ),
        },
        { id: "vendor", header: t`Vendor`, minWidth: 90, cell: (row) => formatVendor(row.vendor) },
        amount("pre_tax", t`Invoiced`, (row) => row.pre_tax),
        amount("cost", t`Vendor's costs`, (row) => row.vendor_cost),
        amount("margin", t`Margin`, (row) => row.margin),
        {
          id: "rate",
          header: t`Margin rate`,
          numeric: true,
          cell: (row) => (row.margin_rate === null ? "–" : formatRate(row.margin_rate, language)),
        },
        amount("total", t`Total with tax`, (row) => row.total),
        { id: "number", header: t`Invoice number`, minWidth: 130, cell: (row) => row.invoice_no },
        {
          id: "state",
          header: t`State`,
          minWidth: 110,
          cell: (row) => (
            <StatusIndicator type={row.state === "closed" ? "success" : "in-progress"}>
              {row.state === "closed" ? t`closed` : t`open`}
            </StatusIndicator>
          ),
        },
      ]}
    />
  );
}
