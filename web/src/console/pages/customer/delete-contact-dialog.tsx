// Deletes a contact of a customer.
import { Trans, useLingui } from "@lingui/react/macro";
import { useChange } from "../../../api/queries.ts";
import { ConfirmDialog } from "../../../components/confirm-dialog.tsx";
import { useNotifications } from "../../../components/notifications.tsx";
import type { Contact } from "./contacts.tsx";

export function DeleteContactDialog({ contact, onEnd }: { contact: Contact; onEnd: () => void }) {
  const { t } = useLingui();
  const { notify } = useNotifications();
  const { name, company_id, contact_id } = contact;
  const remove = useChange(
    (client) =>
      client.delete("/m/core/billinggroup/{company_id}/contacts/{contact_id}", {
        path: { company_id, contact_id },
      }),
    {
      onSuccess: () => {
        notify({ type: "success", content: t`The contact ${name} was deleted.` });
        onEnd();
      },
    },
  );
  return (
    <ConfirmDialog
      title={t`Delete the contact ${name}`}
      action={t`Delete`}
      busy={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate(undefined)}
      onCancel={onEnd}
    >
      <Trans>No more invoices are mailed to this person. Mails that were sent stay recorded.</Trans>
    </ConfirmDialog>
  );
}
