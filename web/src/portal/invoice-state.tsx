// Where an invoice stands for the customer: a word with its sign, and which invoices it replaces.
import Alert from "@cloudscape-design/components/alert";
import StatusIndicator, {
  type StatusIndicatorProps,
} from "@cloudscape-design/components/status-indicator";
import { Trans, useLingui } from "@lingui/react/macro";
import type { components } from "../api/schema.ts";
import { formatTime } from "../components/month.ts";
import { useLanguage } from "../language/language.tsx";

type State = components["schemas"]["InvoiceState"];
type Head = components["schemas"]["CustomerInvoiceHead"];

const SIGNS: Record<State, StatusIndicatorProps.Type> = {
  created: "pending",
  approved: "pending", // shown to staff only
  sent: "success",
  credited: "info",
  replaced: "stopped",
  cancelled: "stopped",
};

export function useStateTexts(): Record<State, string> {
  const { t } = useLingui();
  const created = t({ message: "Created", context: "invoice" });
  return {
    created,
    approved: created,
    sent: t({ message: "Issued", context: "invoice" }),
    credited: t({ message: "Credited in full", context: "invoice" }),
    replaced: t({ message: "Replaced", context: "invoice" }),
    cancelled: t({ message: "Cancelled", context: "invoice" }),
  };
}

export function InvoiceState({ state }: { state: State }) {
  return <StatusIndicator type={SIGNS[state]}>{useStateTexts()[state]}</StatusIndicator>;
}

/** What the customer has to know: the invoice is not owed, or it is owed instead of another. */
export function InvoiceNotice({ invoice }: { invoice: Head }) {
  const { t } = useLingui();
  const { language } = useLanguage();
  const number = invoice.invoice_no;
  return (
    <>
      {invoice.state === "cancelled" && (
        <Alert type="warning" header={t`Invoice ${number} is cancelled.`}>
          <Trans>Please do not pay it.</Trans>
        </Alert>
      )}
      {invoice.state === "credited" && (
        <Alert type="info" header={t`Invoice ${number} is credited in full.`}>
          <Trans>Credit notes return all of it, so that nothing is left to pay.</Trans>
        </Alert>
      )}
      {invoice.replaced.length > 0 && (
        <Alert type="info" header={t`This invoice replaces an earlier one.`}>
          {invoice.replaced.map((each) => (
            <div key={each.invoice_no}>
              <Trans>
                {each.invoice_no} was replaced by {each.replacement_no} on{" "}
                {formatTime(each.replaced_time, language)}.
              </Trans>
            </div>
          ))}
          <Trans>Only {number} counts; please do not pay a replaced invoice.</Trans>
        </Alert>
      )}
    </>
  );
}
