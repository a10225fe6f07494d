// The columns of the list of receivables.
import { useLingui } from "@lingui/react/macro";
import { Amount } from "../../../components/amount.tsx";
import { formatCurrency } from "../../../components/amount-format.ts";
import { formatDate, formatMonth } from "../../../components/month.ts";
import { PaymentState, usePaymentText } from "../../../components/payment-state.tsx";
import { RouterLink } from "../../../components/router-link.tsx";
import type { Column } from "../../../components/server-table.tsx";
import { formatVendor } from "../../../components/vendor.ts";
import { useLanguage } from "../../../language/language.tsx";
import type { Receivable } from "./receivables-page.tsx";

export function useReceivableColumns(): Column<Receivable>[] {
  const { t } = useLingui();
  const { language } = useLanguage();
  const stateText = usePaymentText();
  const amount = (
    id: "total" | "credited" | "paid" | "open_balance",
    header: string,
    more: Partial<Column<Receivable>> = {},
  ): Column<Receivable> => ({
    id,
    header,
    cell: (row) => (
      <Amount value={row[id]} currency={row.currency} strong={id === "open_balance"} />
    ),
    csv: (row) => String(row[id]),
    numeric: true,
    width: 130,
    ...more,
  });
  return [
    {
      id: "invoice_no",
      header: t`Invoice no.`,
      cell: (row) => (
        <RouterLink to={`/invoices/${row.month}/${row.company_id}/${row.vendor}?tab=payments`}>
          {row.invoice_no}
        </RouterLink>
      ),
      csv: (row) => row.invoice_no,
      sort: "invoice_no",
      width: 135,
      alwaysVisible: true,
    },
    {
      id: "billinggroup_name",
      header: t`Customer`,
      cell: (row) => row.billinggroup_name,
      csv: (row) => row.billinggroup_name,
      sort: "billinggroup_name",
      width: 160,
    },
    {
      id: "due_date",
      header: t`Due date`,
      cell: (row) => (row.due_date === null ? "–" : formatDate(row.due_date, language)),
      csv: (row) => row.due_date ?? "",
      sort: "due_date",
      width: 135,
    },
    {
      id: "days_overdue",
      header: t`Days overdue`,
      cell: (row) => (row.days_overdue === 0 ? "–" : row.days_overdue),
      csv: (row) => String(row.days_overdue),
      numeric: true,
      width: 115,
    },
    {
      id: "state",
      header: t`State`,
      cell: (row) => <PaymentState invoice={toPaidInvoice(row)} />,
      csv: (row) => stateText(toPaidInvoice(row)),
      width: 155,
    },
    amount("open_balance", t`Open balance`, { sort: "open_balance" }),
    amount("total", t`Total`, { sort: "total" }),
    amount("paid", t`Paid amount`),
    amount("credited", t`Credited`, { hiddenAtFirst: true }),
    {
      id: "month",
      header: t`Month`,
      cell: (row) => `${formatMonth(row.month, language)} ${formatVendor(row.vendor)}`,
      csv: (row) => `${row.month} ${formatVendor(row.vendor)}`,
      width: 160,
      hiddenAtFirst: true,
    },
    {
      id: "currency",
      header: t`Currency`,
      cell: (row) => formatCurrency(row.currency),
      csv: (row) => formatCurrency(row.currency),
      width: 85,
      hiddenAtFirst: true,
    },
  ];
}

function toPaidInvoice({ state, days_overdue }: Receivable) {
  return { state, overdue: days_overdue > 0 };
}
