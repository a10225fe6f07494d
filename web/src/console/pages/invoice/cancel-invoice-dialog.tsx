// Cancels an invoice that was sent by mistake; its number stays in use.
import Box from "@cloudscape-design/components/box";
import FormField from "@cloudscape-design/components/form-field";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Textarea from "@cloudscape-design/components/textarea";
import { Trans, useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { useChange } from "../../../api/queries.ts";
import { ConfirmDialog } from "../../../components/confirm-dialog.tsx";
import { useNotifications } from "../../../components/notifications.tsx";
import type { InvoiceDocument, InvoicePath } from "./invoice-page.tsx";

interface CancelInvoiceDialogProps {
  path: InvoicePath;
  invoice: InvoiceDocument;
  onEnd: () => void;
}

export function CancelInvoiceDialog({ path, invoice, onEnd }: CancelInvoiceDialogProps) {
  const { t } = useLingui();
  const { notify } = useNotifications();
  const [reason, setReason] = useState("");
  const number = invoice.invoice_no;
  const buildBody = () => ({ reason: reason.trim() });
  const cancel = useChange(
    (client) =>
      client.put("/m/core/invoices/{month}/{company_id}/{vendor}/cancelled", {
        path,
        body: buildBody(),
      }),
    {
      onSuccess: () => {
        notify({ type: "success", content: t`Invoice ${number} is cancelled.` });
        onEnd();
      },
    },
  );
  return (
    <ConfirmDialog
      title={t`Cancel invoice ${number}`}
      word={number}
      action={t`Cancel the invoice`}
      busy={cancel.isPending}
      error={cancel.error}
      approval={{
        kind: "credit_note",
        target: { ...path, operation: "cancellation" },
        buildBody,
      }}
      ready={reason.trim() !== ""}
      onConfirm={() => cancel.mutate(undefined)}
      onCancel={onEnd}
    >
      <SpaceBetween size="s">
        <Box>
          <Trans>
            Nothing of a cancelled invoice is owed, and no other invoice gets its number. This
            cannot be undone. Tell the customer.
          </Trans>
        </Box>
        <FormField label={t`Reason`} description={t`It is recorded in the audit log.`}>
          <Textarea value={reason} onChange={({ detail }) => setReason(detail.value)} rows={2} />
        </FormField>
      </SpaceBetween>
    </ConfirmDialog>
  );
}
