// Removes an own second factor, with the current password.
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { useChange } from "../api/queries.ts";
import { ConfirmDialog } from "../components/confirm-dialog.tsx";
import { useNotifications } from "../components/notifications.tsx";
import { CurrentPasswordField } from "./current-password-field.tsx";
import type { SecondFactor } from "./factor-list.tsx";

export function RemoveFactorDialog(props: { factor: SecondFactor; onEnd: () => void }) {
  const { t } = useLingui();
  const { notify } = useNotifications();
  const [password, setPassword] = useState("");
  const { factor_id, name } = props.factor;
  const remove = useChange(
    (client) =>
      client.post("/m/u/second-factors/{factor_id}/removal", {
        path: { factor_id },
        body: { old_password: password },
      }),
    {
      onSuccess: () => {
        notify({ type: "success", content: t`${name} was removed.` });
        props.onEnd();
      },
    },
  );
  const wrong = remove.error?.violations.some(({ field }) => field === "old_password") ?? false;
  return (
    <ConfirmDialog
      title={t`Remove ${name}?`}
      action={t`Remove`}
      busy={remove.isPending}
      error={wrong ? null : remove.error}
      ready={password !== ""}
      onConfirm={() => remove.mutate(undefined)}
      onCancel={props.onEnd}
    >
      <SpaceBetween size="m">
        <Trans>You can no longer sign in with it.</Trans>
        <CurrentPasswordField value={password} onChange={setPassword} wrong={wrong} />
      </SpaceBetween>
    </ConfirmDialog>
  );
}
