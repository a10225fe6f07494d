// Deletes a role, after its name has been typed.
import { Trans, useLingui } from "@lingui/react/macro";
import { useNavigate } from "react-router";
import { useChange } from "../../../api/queries.ts";
import { ConfirmDialog } from "../../../components/confirm-dialog.tsx";
import { useNotifications } from "../../../components/notifications.tsx";
import type { Role } from "./roles-page.tsx";

export function DeleteRoleDialog({ role, onEnd }: { role: Role; onEnd: () => void }) {
  const { t } = useLingui();
  const { notify } = useNotifications();
  const navigate = useNavigate();
  const remove = useChange(
    (client) =>
      client.delete("/m/auth/rbac/roles/{namespace}/{rolename}", {
        path: { namespace: role.namespace, rolename: role.name },
      }),
    {
      onSuccess: () => {
        notify({ type: "success", content: t`The role ${role.name} was deleted.` });
        navigate("/roles");
      },
    },
  );
  return (
    <ConfirmDialog
      title={t`Delete the role ${role.name}`}
      word={role.name}
      action={t`Delete`}
      busy={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate(undefined)}
      onCancel={onEnd}
    >
      <Trans>Everybody who has this role loses its permissions at once.</Trans>
    </ConfirmDialog>
  );
}
