// Takes back a payment that was recorded by mistake or returned by the bank; it stays in the list.
import Box from "@cloudscape-design/components/box";
import FormField from "@cloudscape-design/components/form-field";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Textarea from "@cloudscape-design/components/textarea";
import { Trans, useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { useChange } from "../../../api/queries.ts";
import { Amount } from "../../../components/amount.tsx";
import { ConfirmDialog } from "../../../components/confirm-dialog.tsx";
import { formatDate } from "../../../components/month.ts";
import { useNotifications } from "../../../components/notifications.tsx";
import { useLanguage } from "../../../language/language.tsx";
import type { InvoicePath } from "./invoice-page.tsx";
import type { Payment } from "./payments.tsx";

interface ReversePaymentDialogProps {
  path: InvoicePath;
  payment: Payment;
  onEnd: () => void;
}

export function ReversePaymentDialog({ path, payment, onEnd }: ReversePaymentDialogProps) {
  const { t } = useLingui();
  const { language } = useLanguage();
  const { notify } = useNotifications();
  const [reason, setReason] = useState("");
  const reverse = useChange(
    (client) =>
      client.put("/m/core/invoices/{month}/{company_id}/{vendor}/payments/{payment_id}/reversed", {
        path: { ...path, payment_id: payment.payment_id },
        body: { reason: reason.trim() },
      }),
    {
      onSuccess: () => {
        notify({ type: "success", content: t`The payment was reversed.` });
        onEnd();
      },
    },
  );
  return (
    <ConfirmDialog
      title={t`Reverse the payment of ${formatDate(payment.paid_on, language)}`}
      action={t`Reverse`}
      busy={reverse.isPending}
      error={reverse.error}
      ready={reason.trim() !== ""}
      onConfirm={() => reverse.mutate(undefined)}
      onCancel={onEnd}
    >
      <SpaceBetween size="s">
        <Box>
          <Trans>
            The payment of <Amount value={payment.amount} currency={payment.currency} strong /> no
            longer counts and stays in the list. This cannot be undone, but it can be recorded
            again.
          </Trans>
        </Box>
        <FormField label={t`Reason`} description={t`It is recorded in the audit log.`}>
          <Textarea value={reason} onChange={({ detail }) => setReason(detail.value)} rows={2} />
        </FormField>
      </SpaceBetween>
    </ConfirmDialog>
  );
}
