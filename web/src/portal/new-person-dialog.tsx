// Adds a person of the company. Roles are given afterwards.
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { useChange } from "../api/queries.ts";
import { ConfirmDialog } from "../components/confirm-dialog.tsx";
import { useNotifications } from "../components/notifications.tsx";
import { isPassword } from "../components/password.ts";
import { PasswordField } from "../components/password-field.tsx";
import { useFieldErrors } from "../components/rule-text.ts";

const USERNAME = /^[A-Za-z0-9_.-]{4,18}$/;

export function NewPersonDialog({ onEnd }: { onEnd: () => void }) {
  const { t } = useLingui();
  const { notify } = useNotifications();
  const [username, setUsername] = useState("");
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const add = useChange(
    (client) =>
      client.post("/m/u/users", {
        body: {
          username,
          password,
          ...(email !== "" && { email }),
          notification: { email: "false" },
        },
      }),
    {
      onSuccess: () => {
        notify({
          type: "success",
          content: t`${username} was added. Give them a role with "Change access".`,
        });
        onEnd();
      },
    },
  );
  const fieldErrors = useFieldErrors(add.error);
  return (
    <ConfirmDialog
      title={t`Add a person`}
      action={t`Add the person`}
      busy={add.isPending}
      error={add.error}
      ready={USERNAME.test(username) && isPassword(password)}
      onConfirm={() => add.mutate(undefined)}
      onCancel={onEnd}
    >
      <SpaceBetween size="m">
        <FormField
          label={t`User name`}
          constraintText={t`4 to 18 letters, digits, _, . or -`}
          errorText={fieldErrors("username")}
        >
          <Input
            value={username}
            autoComplete={false}
            onChange={({ detail }) => setUsername(detail.value.trim())}
          />
        </FormField>
        <FormField label={t`E-mail (optional)`} errorText={fieldErrors("email")}>
          <Input
            type="email"
            value={email}
            autoComplete={false}
            onChange={({ detail }) => setEmail(detail.value.trim())}
          />
        </FormField>
        <PasswordField
          value={password}
          onChange={setPassword}
          disabled={add.isPending}
          errorText={fieldErrors("password")}
        />
      </SpaceBetween>
    </ConfirmDialog>
  );
}
