// The columns of the list of invoices.
import Popover from "@cloudscape-design/components/popover";
import StatusIndicator, {
  type StatusIndicatorProps,
} from "@cloudscape-design/components/status-indicator";
import { useLingui } from "@lingui/react/macro";
import type { Decimal } from "../../../api/exact-json.ts";
import { Amount } from "../../../components/amount.tsx";
import { formatCurrency, formatRate, plusSign } from "../../../components/amount-format.ts";
import { toPercent } from "../../../components/percent.ts";
import { RouterLink } from "../../../components/router-link.tsx";
import type { Column, CSVFile } from "../../../components/server-table.tsx";
import { formatVendor } from "../../../components/vendor.ts";
import { useLanguage } from "../../../language/language.tsx";
import { useWarningTexts } from "./invoice-warnings.ts";
import type { ShortInvoice } from "./invoices-page.tsx";

interface MonthOfInvoices {
  month: string;
  vendor: string;
  closed: boolean;
}

export function useInvoiceColumns(of: MonthOfInvoices): Column<ShortInvoice>[] {
  const { t } = useLingui();
  const { month, vendor, closed } = of;
  const stateText = useStateText(closed);
  const rateText = useRateText();
  const amount = (value: Decimal | null, row: ShortInvoice, look: AmountLook = {}) =>
    row.currency === null ? "" : <Amount value={value} currency={row.currency} {...look} />;
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
      width: 160,
      alwaysVisible: true,
    },
    {
      id: "billinggroup_id",
      header: t`ID`,
      cell: (row) => row.billinggroup_id,
      csv: (row) => row.billinggroup_id,
      sort: "billinggroup_id",
      width: 112,
    },
    {
      id: "invoice_no",
      header: t`Invoice no.`,
      cell: (row) => row.invoice_no ?? "",
      csv: (row) => row.invoice_no ?? "",
      sort: "invoice_no",
      width: 134,
    },
    {
      id: "state",
      header: t`State`,
      cell: (row) => <InvoiceState row={row} text={stateText(row)} />,
      csv: stateText,
      width: 118,
    },
    {
      id: "currency",
      header: t`Currency`,
      cell: (row) => formatCurrency(row.currency ?? ""),
      csv: (row) => formatCurrency(row.currency ?? ""),
      width: 85,
      hiddenAtFirst: true,
    },
    {
      id: "pre_tax",
      header: t`Before tax`,
      cell: (row) => amount(row.pre_tax, row),
      csv: (row) => String(row.pre_tax ?? ""),
      sort: "pre_tax",
      numeric: true,
      width: 130,
      hiddenAtFirst: true,
    },
    {
      id: "tax",
      header: t`Tax`,
      cell: (row) => amount(row.tax, row),
      csv: (row) => String(row.tax ?? ""),
      numeric: true,
      width: 110,
      hiddenAtFirst: true,
    },
    {
      id: "total",
      header: t`Total`,
      cell: (row) => amount(row.total, row, { strong: true }),
      csv: (row) => String(row.total ?? ""),
      sort: "total",
      numeric: true,
      width: 135,
    },
    {
      id: "total_before",
      header: t`Last month`,
      cell: (row) => amount(row.total_before, row),
      csv: (row) => String(row.total_before ?? ""),
      numeric: true,
      width: 125,
    },
    {
      id: "change",
      header: t`Change`,
      cell: (row) => amount(row.change, row, { signed: true }),
      csv: (row) => String(row.change ?? ""),
      sort: "change",
      numeric: true,
      width: 122,
    },
    {
      id: "change_rate",
      header: t`Change (%)`,
      cell: rateText,
      csv: rateText,
      sort: "change_rate",
      numeric: true,
      width: 122,
    },
  ];
}

interface AmountLook {
  strong?: boolean;
  signed?: boolean;
}

function useRateText(): (row: ShortInvoice) => string {
  const { language } = useLanguage();
  return ({ change_rate: rate }) =>
    rate === null ? "" : `${plusSign(rate)}${formatRate(rate, language)}`;
}

function useStateText(closed: boolean): (row: ShortInvoice) => string {
  const { t } = useLingui();
  const warningTexts = useWarningTexts();
  const notSent = t({ message: "Not sent", context: "invoice" });
  const states: Record<NonNullable<ShortInvoice["state"]>, string> = {
    created: closed ? notSent : t({ message: "Created", context: "invoice" }),
    approved: closed ? notSent : t({ message: "Approved", context: "invoice" }),
    sent: t({ message: "Sent", context: "invoice" }),
    credited: t({ message: "Credited in full", context: "invoice" }),
    replaced: t({ message: "Replaced", context: "invoice" }),
    cancelled: t({ message: "Cancelled", context: "invoice" }),
  };
  return (row) => {
    if (row.state === null) return t`No invoice`;
    if (row.outdated) return t({ message: "Outdated", context: "invoice" });
    return [states[row.state], ...row.warnings.map((code) => warningTexts[code].short)].join(" ");
  };
}

/** What accounting takes over: one row for each invoice, complete without the page. */
export function useInvoiceFile({ month, vendor, closed }: MonthOfInvoices): CSVFile<ShortInvoice> {
  const { t } = useLingui();
  const stateText = useStateText(closed);
  const column = (header: string, csv: (row: ShortInvoice) => Decimal | null) => ({
    header,
    csv: (row: ShortInvoice) => String(csv(row) ?? ""),
  });
  return {
    name: `invoices-${month}-${vendor}`,
    columns: [
      column(t`Month`, () => month),
      column(t`Vendor`, () => formatVendor(vendor)),
      column(t`Invoice no.`, (row) => row.invoice_no),
      column(t`ID`, (row) => row.billinggroup_id),
      column(t`Customer`, (row) => row.billinggroup_name),
      column(t`Company name`, (row) => row.company_name),
      column(t`Issue date`, (row) => row.issue_date),
      column(t`Due date`, (row) => row.due_date),
      column(t`State`, stateText),
      column(t`Currency`, (row) => formatCurrency(row.currency ?? "")),
      column(t`Before tax`, (row) => row.pre_tax),
      column(t`Taxed amount`, (row) => row.taxable),
      column(t`Tax rate (%)`, (row) => (row.tax_rate === null ? "" : toPercent(row.tax_rate))),
      column(t`Tax`, (row) => row.tax),
      column(t`Total`, (row) => row.total),
      column(t`Last month`, (row) => row.total_before),
      column(t`Change`, (row) => row.change),
    ],
  };
}

function InvoiceState({ row, text }: { row: ShortInvoice; text: string }) {
  const { t } = useLingui();
  const warningTexts = useWarningTexts();
  if (row.outdated)
    return (
      <Popover
        content={t`The rate, terms, memo or items were changed after the invoice. Create it again.`}
      >
        <StatusIndicator type="warning">{text}</StatusIndicator>
      </Popover>
    );
  const indicator = row.warnings.length > 0 ? "warning" : chooseIndicator(row);
  const state = <StatusIndicator type={indicator}>{text}</StatusIndicator>;
  if (row.warnings.length === 0) return state;
  return (
    <Popover content={row.warnings.map((code) => warningTexts[code].text).join("\n")}>
      {state}
    </Popover>
  );
}

function chooseIndicator({ state }: ShortInvoice): StatusIndicatorProps.Type {
  switch (state) {
    case "sent":
      return "success";
    case "credited":
      return "info";
    case "cancelled":
    case "replaced":
      return "stopped";
    case null:
      return "not-started";
    default:
      return "pending";
  }
}
