// Deletes a person, after their name has been typed.
import { Trans, useLingui } from "@lingui/react/macro";
import { useNavigate } from "react-router";
import { useChange } from "../api/queries.ts";
import type { components } from "../api/schema.ts";
import { ConfirmDialog } from "./confirm-dialog.tsx";
import { useNotifications } from "./notifications.tsx";

type Person = components["schemas"]["Subuser"];

export function DeletePersonDialog({ person, onEnd }: { person: Person; onEnd: () => void }) {
  const { t } = useLingui();
  const { notify } = useNotifications();
  const navigate = useNavigate();
  const remove = useChange(
    (client) => client.delete("/m/u/users/{user_id}", { path: { user_id: person.user_id } }),
    {
      gone: person.user_id,
      onSuccess: () => {
        notify({ type: "success", content: t`${person.username} was deleted.` });
        onEnd();
        navigate("/people");
      },
    },
  );
  return (
    <ConfirmDialog
      title={t`Delete ${person.username}`}
      word={person.username}
      action={t`Delete`}
      busy={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate(undefined)}
      onCancel={onEnd}
    >
      <Trans>
        The person can no longer sign in, and their API clients stop working at once. What they did
        stays in the audit log. This cannot be undone.
      </Trans>
    </ConfirmDialog>
  );
}
