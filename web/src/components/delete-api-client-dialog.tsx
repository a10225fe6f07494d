// Deletes an API client, after its name has been typed.
import { Trans, useLingui } from "@lingui/react/macro";
import { useChange } from "../api/queries.ts";
import type { components } from "../api/schema.ts";
import { ConfirmDialog } from "./confirm-dialog.tsx";
import { useNotifications } from "./notifications.tsx";

type ApiClientRecord = components["schemas"]["ApiClientRecord"];

interface DeleteApiClientDialogProps {
  user: string;
  client: ApiClientRecord;
  onEnd: () => void;
}

export function DeleteApiClientDialog({ user, client, onEnd }: DeleteApiClientDialogProps) {
  const { t } = useLingui();
  const { notify } = useNotifications();
  const remove = useChange(
    (api) =>
      api.delete("/m/u/users/client/{user}/{client_id}", {
        path: { user, client_id: client.client_id },
      }),
    {
      onSuccess: () => {
        notify({ type: "success", content: t`${client.name} was deleted.` });
        onEnd();
      },
    },
  );
  return (
    <ConfirmDialog
      title={t`Delete ${client.name}`}
      word={client.name.trim()}
      action={t`Delete`}
      busy={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate(undefined)}
      onCancel={onEnd}
    >
      <Trans>The program that uses it stops working at once. This cannot be undone.</Trans>
    </ConfirmDialog>
  );
}
