// Whether an invoice is paid: a word with its sign.
import StatusIndicator, {
  type StatusIndicatorProps,
} from "@cloudscape-design/components/status-indicator";
import { useLingui } from "@lingui/react/macro";
import type { components } from "../api/schema.ts";

interface PaidInvoice {
  state: components["schemas"]["Receivable"]["state"];
  overdue: boolean;
}

export function usePaymentText(): (invoice: PaidInvoice) => string {
  const { t } = useLingui();
  return ({ state, overdue }) => {
    if (state === "paid") return t({ message: "Paid", context: "invoice" });
    if (state === "overpaid") return t`Overpaid`;
    if (state === "partly_paid") return overdue ? t`Partly paid, overdue` : t`Partly paid`;
    return overdue ? t`Overdue` : t`Not paid yet`;
  };
}

export function PaymentState({ invoice }: { invoice: PaidInvoice }) {
  const text = usePaymentText()(invoice);
  return <StatusIndicator type={findSign(invoice)}>{text}</StatusIndicator>;
}

function findSign({ state, overdue }: PaidInvoice): StatusIndicatorProps.Type {
  if (state === "paid") return "success";
  if (state === "overpaid") return "info";
  if (overdue) return "error";
  return state === "partly_paid" ? "in-progress" : "pending";
}
