// Sets a new password of a portal login.
import Box from "@cloudscape-design/components/box";
import { Trans, useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { useChange } from "../../../api/queries.ts";
import { useErrorText } from "../../../components/error-text.ts";
import { useNotifications } from "../../../components/notifications.tsx";
import { FormDialog } from "./form-dialog.tsx";
import {
  isPasswordReady,
  NEW_PASSWORD,
  PasswordFields,
  ShownPassword,
  writePassword,
} from "./password-fields.tsx";
import type { PortalLogin } from "./portal-logins.tsx";

export function LoginPasswordDialog({ login, onEnd }: { login: PortalLogin; onEnd: () => void }) {
  const { t } = useLingui();
  const errorText = useErrorText();
  const { notify } = useNotifications();
  const [choice, setChoice] = useState(NEW_PASSWORD);
  const [shown, setShown] = useState<string>();
  const save = useChange(
    (client) =>
      client.put("/m/core/reseller/{user_id}/password", {
        path: { user_id: login.user_id },
        body: writePassword(choice),
      }),
    {
      onSuccess: ({ password }) => {
        notify({ type: "success", content: t`The password of ${login.email} was changed.` });
        if (password) setShown(password);
        else onEnd();
      },
    },
  );
  if (shown !== undefined)
    return <ShownPassword email={login.email} password={shown} onEnd={onEnd} />;
  return (
    <FormDialog
      title={t`New password for ${login.email}`}
      action={t`Set the password`}
      busy={save.isPending}
      error={save.error === null ? "" : errorText(save.error)}
      ready={isPasswordReady(choice)}
      onSave={() => save.mutate(undefined)}
      onCancel={onEnd}
    >
      <Box>
        <Trans>The old password stops working, and everybody who uses it is signed out.</Trans>
      </Box>
      <PasswordFields choice={choice} onChange={setChoice} />
    </FormDialog>
  );
}
