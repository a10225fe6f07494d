// The mails with an invoice, and the way to send one again.
import Button from "@cloudscape-design/components/button";
import { Trans, useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { useChange } from "../../../api/queries.ts";
import { ConfirmDialog } from "../../../components/confirm-dialog.tsx";
import { useNotifications } from "../../../components/notifications.tsx";
import { RouterLink } from "../../../components/router-link.tsx";
import { useMay } from "../../me.ts";
import { DeliveriesTable } from "../sending/deliveries-table.tsx";
import type { InvoiceDocument, InvoicePath } from "./invoice-page.tsx";
import { useInvoiceStatus } from "./invoice-state.tsx";

interface InvoiceMailsProps {
  path: InvoicePath;
  invoice: InvoiceDocument;
}

export function InvoiceMails({ path, invoice }: InvoiceMailsProps) {
  const state = useInvoiceStatus(path).data?.state;
  const mayChange = useMay()("ModifyInvoice");
  const [sending, setSending] = useState(false);
  return (
    <>
      <DeliveriesTable
        month={path.month}
        vendor={path.vendor}
        company={path.company_id}
        actions={
          <>
            {mayChange && state === "sent" && (
              <Button onClick={() => setSending(true)}>
                <Trans>Mail the PDF once more</Trans>
              </Button>
            )}
            {mayChange && (state === "created" || state === "approved") && (
              <RouterLink to={`/sending/${path.month}/${path.vendor}`}>
                <Trans>Send invoices of this month</Trans>
              </RouterLink>
            )}
          </>
        }
      />
      {sending && <SendAgainDialog path={path} invoice={invoice} onEnd={() => setSending(false)} />}
    </>
  );
}

function SendAgainDialog({ path, invoice, onEnd }: InvoiceMailsProps & { onEnd: () => void }) {
  const { t } = useLingui();
  const { notify } = useNotifications();
  const { month, vendor, company_id } = path;
  const number = invoice.invoice_no;
  const send = useChange(
    (client, idempotencyKey: string) =>
      client.post("/m/core/invoices/{month}/deliveries", {
        path: { month },
        body: { vendor, method: "pdf", company_ids: [company_id], again: true },
        idempotencyKey,
      }),
    {
      onSuccess: () => {
        notify({ type: "success", content: t`Invoice ${number} is sent again.` });
        onEnd();
      },
    },
  );
  return (
    <ConfirmDialog
      title={t`Send invoice ${number} again`}
      action={t`Send again`}
      busy={send.isPending}
      error={send.error}
      onConfirm={() => send.mutate(crypto.randomUUID())}
      onCancel={onEnd}
    >
      <Trans>The mail goes to the contacts of the customer as they are now.</Trans>
    </ConfirmDialog>
  );
}
