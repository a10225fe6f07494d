// Creates a new secret and shows it once; the one before stays valid for a day.
import { Trans, useLingui } from "@lingui/react/macro";
import { useChange } from "../../../api/queries.ts";
import { ConfirmDialog } from "../../../components/confirm-dialog.tsx";
import { formatTime } from "../../../components/month.ts";
import { useLanguage } from "../../../language/language.tsx";
import { SecretDialog } from "./secret-dialog.tsx";

interface RotateSecretDialogProps {
  endpointId: string;
  onEnd: () => void;
}

export function RotateSecretDialog({ endpointId, onEnd }: RotateSecretDialogProps) {
  const { t } = useLingui();
  const { language } = useLanguage();
  const rotate = useChange((client) =>
    client.post("/m/core/webhooks/{endpoint_id}/secret", { path: { endpoint_id: endpointId } }),
  );
  if (rotate.data !== undefined) {
    const until = formatTime(rotate.data.previous_secret_until ?? "", language);
    return (
      <SecretDialog title={t`The new secret`} secret={rotate.data.secret} onEnd={onEnd}>
        <Trans>Until {until} events are also signed with the secret before.</Trans>
      </SecretDialog>
    );
  }
  return (
    <ConfirmDialog
      title={t`Create a new secret`}
      action={t`Create`}
      busy={rotate.isPending}
      error={rotate.error}
      onConfirm={() => rotate.mutate(undefined)}
      onCancel={onEnd}
    >
      <Trans>
        For 24 hours events are signed with both secrets. Give the new one to the receiving program
        within this time. If you do this twice, the first secret ends at once.
      </Trans>
    </ConfirmDialog>
  );
}
