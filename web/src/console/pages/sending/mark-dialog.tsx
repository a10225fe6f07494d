// Records that customers received their invoices in another way than by mail.
import Box from "@cloudscape-design/components/box";
import { plural } from "@lingui/core/macro";
import { useLingui } from "@lingui/react/macro";
import { useChange } from "../../../api/queries.ts";
import { ConfirmDialog } from "../../../components/confirm-dialog.tsx";
import { useNotifications } from "../../../components/notifications.tsx";
import type { PreviewedMail } from "./delivery-texts.ts";

interface MarkDialogProps {
  month: string;
  vendor: string;
  mails: readonly PreviewedMail[];
  onEnd: () => void;
}

/** Nobody can be mailed, and nothing else keeps the invoice back; approval is requested here. */
export function isMarkable({ problems }: PreviewedMail): boolean {
  const reasons = problems.filter((problem) => problem !== "not_approved");
  return (
    reasons.length > 0 &&
    reasons.every((problem) => problem === "no_contact" || problem === "no_portal_login")
  );
}

export function MarkDialog({ month, vendor, mails, onEnd }: MarkDialogProps) {
  const { t } = useLingui();
  const { notify } = useNotifications();
  const body = {
    vendor,
    revisions: Object.fromEntries(mails.map(({ company_id, revision }) => [company_id, revision])),
  };
  const mark = useChange(
    (client) => client.put("/m/core/invoices/{month}/sent", { path: { month }, body }),
    {
      onSuccess: ({ marked }) => {
        const count = marked.length;
        notify({
          type: "success",
          content: t`${plural(count, { one: "# invoice is", other: "# invoices are" })} marked as sent.`,
        });
        onEnd();
      },
    },
  );
  return (
    <ConfirmDialog
      title={t`Mark ${plural(mails.length, { one: "# invoice", other: "# invoices" })} as sent`}
      word={month}
      action={t`Mark as sent`}
      busy={mark.isPending}
      error={mark.error}
      approval={{ kind: "invoice_issue", target: { month }, buildBody: () => body }}
      onConfirm={() => mark.mutate(undefined)}
      onCancel={onEnd}
    >
      <Box>
        {t`${plural(mails.length, { one: "# customer has", other: "# customers have" })} received the invoice in another way, for example by post. No mail is sent. The invoices cannot be created again afterwards: credit notes correct them. This cannot be undone.`}
      </Box>
    </ConfirmDialog>
  );
}
