// Records a payment of a sent invoice; the open balance is proposed.
import Box from "@cloudscape-design/components/box";
import Checkbox from "@cloudscape-design/components/checkbox";
import DatePicker from "@cloudscape-design/components/date-picker";
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { exactNumber } from "../../../api/exact-json.ts";
import { useChange } from "../../../api/queries.ts";
import { Amount } from "../../../components/amount.tsx";
import {
  formatCurrency,
  isNegative,
  isPositiveNumber,
  isZero,
} from "../../../components/amount-format.ts";
import { ConfirmDialog } from "../../../components/confirm-dialog.tsx";
import { currentDay } from "../../../components/month.ts";
import { useNotifications } from "../../../components/notifications.tsx";
import { OptionalLabel } from "../../../components/optional-label.tsx";
import { useFieldErrors } from "../../../components/rule-text.ts";
import { useLanguage } from "../../../language/language.tsx";
import type { InvoicePath } from "./invoice-page.tsx";
import type { InvoicePayments } from "./payments.tsx";

interface RecordPaymentDialogProps {
  path: InvoicePath;
  balance: InvoicePayments;
  onEnd: () => void;
}

export function RecordPaymentDialog({ path, balance, onEnd }: RecordPaymentDialogProps) {
  const { t } = useLingui();
  const { language } = useLanguage();
  const { notify } = useNotifications();
  const [paidOn, setPaidOn] = useState(currentDay());
  const [amount, setAmount] = useState(proposeAmount(balance));
  const [note, setNote] = useState("");
  const [overpaid, setOverpaid] = useState(false);
  const number = balance.invoice_no;
  const record = useChange(
    (client) =>
      client.post("/m/core/invoices/{month}/{company_id}/{vendor}/payments", {
        path,
        body: {
          amount: exactNumber(removeCommas(amount)) as number,
          paid_on: paidOn,
          ...(note.trim() !== "" && { note: note.trim() }),
          ...(overpaid && { overpaid }),
        },
      }),
    {
      onSuccess: () => {
        notify({ type: "success", content: t`The payment of invoice ${number} was recorded.` });
        onEnd();
      },
    },
  );
  const fieldErrors = useFieldErrors(record.error);
  const isAmount = isPositiveNumber(removeCommas(amount));
  const isTooMuch = record.error?.code === "exceeds_balance";
  return (
    <ConfirmDialog
      title={t`Record a payment of invoice ${number}`}
      action={t`Record`}
      busy={record.isPending}
      error={record.error}
      ready={isAmount && paidOn !== ""}
      onConfirm={() => record.mutate(undefined)}
      onCancel={onEnd}
    >
      <SpaceBetween size="m">
        <Box>
          <Trans>
            Open balance: <Amount value={balance.open_balance} currency={balance.currency} strong />
          </Trans>
        </Box>
        <FormField label={t`Date of payment`} errorText={fieldErrors("paid_on")}>
          <DatePicker
            value={paidOn}
            onChange={({ detail }) => setPaidOn(detail.value)}
            locale={language}
            placeholder="YYYY/MM/DD"
            openCalendarAriaLabel={(date) =>
              date === null ? t`Choose a date` : t`Choose a date; ${date} is chosen`
            }
          />
        </FormField>
        <FormField
          label={t`Amount (${formatCurrency(balance.currency)})`}
          errorText={amount === "" || isAmount ? fieldErrors("amount") : t`Enter a number above 0.`}
        >
          <Input
            value={amount}
            inputMode="decimal"
            onChange={({ detail }) => setAmount(detail.value)}
          />
        </FormField>
        {(isTooMuch || overpaid) && (
          <Checkbox checked={overpaid} onChange={({ detail }) => setOverpaid(detail.checked)}>
            <Trans>The customer paid more than the open balance</Trans>
          </Checkbox>
        )}
        <FormField label={<OptionalLabel label={t`Note`} />} errorText={fieldErrors("note")}>
          <Input value={note} onChange={({ detail }) => setNote(detail.value)} />
        </FormField>
      </SpaceBetween>
    </ConfirmDialog>
  );
}

/** What is left to pay; nothing if the invoice is paid. */
function proposeAmount({ open_balance: left }: InvoicePayments): string {
  return isZero(left) || isNegative(left) ? "" : String(left);
}

/** People copy amounts with commas between thousands. */
function removeCommas(text: string): string {
  return text.replace(/,/g, "");
}
