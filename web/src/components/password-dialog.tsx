// Gives a person a new password.
import Box from "@cloudscape-design/components/box";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { useChange } from "../api/queries.ts";
import type { components } from "../api/schema.ts";
import { ConfirmDialog } from "./confirm-dialog.tsx";
import { useNotifications } from "./notifications.tsx";
import { isPassword } from "./password.ts";
import { PasswordField } from "./password-field.tsx";
import { useFieldErrors } from "./rule-text.ts";

type Person = components["schemas"]["Subuser"];

export function PasswordDialog({ person, onEnd }: { person: Person; onEnd: () => void }) {
  const { t } = useLingui();
  const { notify } = useNotifications();
  const [password, setPassword] = useState("");
  const save = useChange(
    (client) =>
      client.put("/m/u/users/{user_id}/password", {
        path: { user_id: person.user_id },
        body: { password },
      }),
    {
      onSuccess: () => {
        notify({ type: "success", content: t`${person.username} has a new password.` });
        onEnd();
      },
    },
  );
  const fieldErrors = useFieldErrors(save.error);
  return (
    <ConfirmDialog
      title={t`New password of ${person.username}`}
      action={t`Reset the password`}
      busy={save.isPending}
      error={save.error}
      ready={isPassword(password)}
      onConfirm={() => save.mutate(undefined)}
      onCancel={onEnd}
    >
      <SpaceBetween size="m">
        <Box>
          <Trans>The person is signed out everywhere and signs in with the new password.</Trans>
        </Box>
        <PasswordField
          value={password}
          onChange={setPassword}
          disabled={save.isPending}
          errorText={fieldErrors("password")}
        />
      </SpaceBetween>
    </ConfirmDialog>
  );
}
