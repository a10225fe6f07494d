// Deletes a portal login.
import { Trans, useLingui } from "@lingui/react/macro";
import { useChange } from "../../../api/queries.ts";
import { ConfirmDialog } from "../../../components/confirm-dialog.tsx";
import { useNotifications } from "../../../components/notifications.tsx";
import type { PortalLogin } from "./portal-logins.tsx";

export function DeleteLoginDialog({ login, onEnd }: { login: PortalLogin; onEnd: () => void }) {
  const { t } = useLingui();
  const { notify } = useNotifications();
  const remove = useChange(
    (client) => client.delete("/m/core/reseller/{user_id}", { path: { user_id: login.user_id } }),
    {
      onSuccess: () => {
        notify({ type: "success", content: t`${login.email} was deleted.` });
        onEnd();
      },
    },
  );
  return (
    <ConfirmDialog
      title={t`Delete ${login.email}`}
      word={login.email}
      action={t`Delete`}
      busy={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate(undefined)}
      onCancel={onEnd}
    >
      <Trans>The login stops working at once. Invoices and usage of the customer stay.</Trans>
    </ConfirmDialog>
  );
}
