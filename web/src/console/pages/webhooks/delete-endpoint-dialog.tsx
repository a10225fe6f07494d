// Deletes an endpoint with the record of its deliveries.
import { Trans, useLingui } from "@lingui/react/macro";
import { useNavigate } from "react-router";
import { useChange } from "../../../api/queries.ts";
import { ConfirmDialog } from "../../../components/confirm-dialog.tsx";
import { useNotifications } from "../../../components/notifications.tsx";
import type { WebhookEndpoint } from "./event-texts.ts";

interface DeleteEndpointDialogProps {
  endpoint: WebhookEndpoint;
  onEnd: () => void;
}

export function DeleteEndpointDialog({ endpoint, onEnd }: DeleteEndpointDialogProps) {
  const { t } = useLingui();
  const { notify } = useNotifications();
  const navigate = useNavigate();
  const remove = useChange(
    (client) =>
      client.delete("/m/core/webhooks/{endpoint_id}", {
        path: { endpoint_id: endpoint.endpoint_id },
      }),
    {
      gone: endpoint.endpoint_id,
      onSuccess: () => {
        notify({ type: "success", content: t`The endpoint was deleted.` });
        navigate("/webhooks");
      },
    },
  );
  return (
    <ConfirmDialog
      title={t`Delete the endpoint`}
      action={t`Delete`}
      busy={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate(undefined)}
      onCancel={onEnd}
    >
      <Trans>
        {endpoint.url} receives no more events. The list of its deliveries is deleted too. This
        cannot be undone.
      </Trans>
    </ConfirmDialog>
  );
}
