// Removes all second factors of somebody else, who has lost them.
import { Trans, useLingui } from "@lingui/react/macro";
import { useChange } from "../api/queries.ts";
import { ConfirmDialog } from "../components/confirm-dialog.tsx";
import { useNotifications } from "../components/notifications.tsx";

interface RemoveFactorsDialogProps {
  userId: string;
  username: string;
  /** The user is the portal login of a customer, not a person of the own company. */
  portalLogin?: boolean;
  onEnd: () => void;
}

export function RemoveFactorsDialog(props: RemoveFactorsDialogProps) {
  const { userId, username, portalLogin = false, onEnd } = props;
  const { t } = useLingui();
  const { notify } = useNotifications();
  const remove = useChange(
    (client) =>
      client.delete(
        portalLogin
          ? "/m/core/reseller/{user_id}/second-factors"
          : "/m/u/users/{user_id}/second-factors",
        { path: { user_id: userId } },
      ),
    {
      onSuccess: () => {
        notify({ type: "success", content: t`The second factors of ${username} were removed.` });
        onEnd();
      },
    },
  );
  return (
    <ConfirmDialog
      title={t`Remove the second factors of ${username}?`}
      action={t`Remove the second factors`}
      busy={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate(undefined)}
      onCancel={onEnd}
    >
      <Trans>
        The person then signs in with the password alone, or registers a new factor if the
        organisation requires one. Make sure that the request really comes from this person.
      </Trans>
    </ConfirmDialog>
  );
}
