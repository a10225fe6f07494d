// Sends the failed events of some days again.
import FormField from "@cloudscape-design/components/form-field";
import Select from "@cloudscape-design/components/select";
import { useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { useChange } from "../../../api/queries.ts";
import { ConfirmDialog } from "../../../components/confirm-dialog.tsx";
import { useNotifications } from "../../../components/notifications.tsx";

const MILLISECONDS_OF_DAY = 86_400_000;

interface ReplayFailedDialogProps {
  endpointId: string;
  onEnd: () => void;
}

export function ReplayFailedDialog({ endpointId, onEnd }: ReplayFailedDialogProps) {
  const { t } = useLingui();
  const { notify } = useNotifications();
  const [days, setDays] = useState("7");
  const replay = useChange(
    (client) =>
      client.post("/m/core/webhooks/{endpoint_id}/replay", {
        path: { endpoint_id: endpointId },
        body: { since: new Date(Date.now() - Number(days) * MILLISECONDS_OF_DAY).toISOString() },
      }),
    {
      onSuccess: ({ deliveries }) => {
        notify({ type: "success", content: t`Failed events that are sent again: ${deliveries}` });
        onEnd();
      },
    },
  );
  const options = [
    { value: "1", label: t`The last 24 hours` },
    { value: "7", label: t`The last 7 days` },
    { value: "90", label: t`All, up to 90 days` },
  ];
  return (
    <ConfirmDialog
      title={t`Send failed events again`}
      action={t`Send again`}
      busy={replay.isPending}
      error={replay.error}
      onConfirm={() => replay.mutate(undefined)}
      onCancel={onEnd}
    >
      <FormField
        label={t`Events of`}
        description={t`The receiving program recognises events that it has already: their id stays the same.`}
      >
        <Select
          selectedOption={options.find(({ value }) => value === days) ?? null}
          options={options}
          onChange={({ detail }) => setDays(detail.selectedOption.value ?? days)}
        />
      </FormField>
    </ConfirmDialog>
  );
}
