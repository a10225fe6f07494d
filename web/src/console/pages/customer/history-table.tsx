// The invoices of a customer by month: amount, vendor cost, margin, number and state.
import Header from "@cloudscape-design/components/header";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import Table from "@cloudscape-design/components/table";
import { Trans, useLingui } from "@lingui/react/macro";
import type { Decimal } from "../../../api/exact-json.ts";
import { Amount } from "../../../components/amount.tsx";
import { formatCurrency, formatRate } from "../../../components/amount-format.ts";
import { CsvButton } from "../../../components/csv-button.tsx";
import { formatMonth } from "../../../components/month.ts";
import { RouterLink } from "../../../components/router-link.tsx";
import { formatVendor } from "../../../components/vendor.ts";
import { useLanguage } from "../../../language/language.tsx";
import type { CustomerMonth } from "./customer-history.tsx";

export function HistoryTable({ company, months }: { company: string; months: CustomerMonth[] }) {
  const { t } = useLingui();
  const { language } = useLanguage();
  const sorted = [...months].sort(
    (a, b) => b.month.localeCompare(a.month) || a.vendor.localeCompare(b.vendor),
  );
  const right = (text: string) => <span className="amount-cell">{text}</span>;
  const amount = (row: CustomerMonth, value: Decimal) => (
    <span className="amount-cell">
      <Amount value={value} currency={row.currency} />
    </span>
  );
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
    <Table
      variant="container"
      contentDensity="compact"
      wrapLines
      items={sorted}
      trackBy={(row) => `${row.month} ${row.vendor}`}
      ariaLabels={{ tableLabel: t`Invoices of the last twelve months` }}
      header={
        <Header
          variant="h2"
          counter={`(${months.length})`}
          actions={<CsvButton name="customer-invoices" rows={sorted} columns={csvColumns} />}
        >
          <Trans>Invoices</Trans>
        </Header>
      }
      columnDefinitions={[
        {
          id: "month",
          header: t`Month`,
          minWidth: 110,
          isRowHeader: true,
          cell: (row) => (
            <RouterLink to={`/invoices/${row.month}/${company}/${row.vendor}`}>
              {formatMonth(row.month, language)}
            </RouterLink>
          ),
        },
        { id: "vendor", header: t`Vendor`, minWidth: 90, cell: (row) => formatVendor(row.vendor) },
        { id: "pre_tax", header: right(t`Invoiced`), cell: (row) => amount(row, row.pre_tax) },
        {
          id: "cost",
          header: right(t`Vendor's costs`),
          cell: (row) => amount(row, row.vendor_cost),
        },
        { id: "margin", header: right(t`Margin`), cell: (row) => amount(row, row.margin) },
        {
          id: "rate",
          header: right(t`Margin rate`),
          cell: (row) => (
            <span className="amount-cell">
              {row.margin_rate === null ? "–" : formatRate(row.margin_rate, language)}
            </span>
          ),
        },
        { id: "total", header: right(t`Total with tax`), cell: (row) => amount(row, row.total) },
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
