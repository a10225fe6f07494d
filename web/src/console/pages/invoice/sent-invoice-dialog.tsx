// Records that an invoice was sent; from then on only credit notes correct it.
import Box from "@cloudscape-design/components/box";
import { Trans, useLingui } from "@lingui/react/macro";
import { useChange } from "../../../api/queries.ts";
import { ConfirmDialog } from "../../../components/confirm-dialog.tsx";
import { useNotifications } from "../../../components/notifications.tsx";
import type { InvoiceDocument, InvoicePath } from "./invoice-page.tsx";

interface SentInvoiceDialogProps {
  path: InvoicePath;
  invoice: InvoiceDocument;
  onEnd: () => void;
}

export function SentInvoiceDialog({ path, invoice, onEnd }: SentInvoiceDialogProps) {
  const { t } = useLingui();
  const { notify } = useNotifications();
  const number = invoice.invoice_no;
  const mark = useChange(
    (client) =>
      client.put("/m/core/invoices/{month}/{company_id}/{vendor}/sent", {
        path,
        body: { revision: invoice.revision },
      }),
    {
      onSuccess: () => {
        notify({ type: "success", content: t`Invoice ${number} is marked as sent.` });
        onEnd();
      },
    },
  );
  return (
    <ConfirmDialog
      title={t`Mark invoice ${number} as sent`}
      word={number}
      action={t`Mark as sent`}
      busy={mark.isPending}
      error={mark.error}
      approval={{
        kind: "invoice_issue",
        target: { month: path.month },
        buildBody: () => ({
          vendor: path.vendor,
          revisions: { [path.company_id]: invoice.revision },
        }),
      }}
      onConfirm={() => mark.mutate(undefined)}
      onCancel={onEnd}
    >
      <Box>
        <Trans>
          The customer has received the invoice. It cannot be created again afterwards: credit notes
          or a new invoice correct it. This cannot be undone.
        </Trans>
      </Box>
    </ConfirmDialog>
  );
}
