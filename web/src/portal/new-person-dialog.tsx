// Adds a person of the company; their roles are chosen next.
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { useChange } from "../api/queries.ts";
import type { components } from "../api/schema.ts";
import { ConfirmDialog } from "../components/confirm-dialog.tsx";
import {
  FirstPassword,
  INVITED,
  isFirstPasswordComplete,
  isInvited,
  writeFirstPassword,
} from "../components/first-password.tsx";
import { useNotifications } from "../components/notifications.tsx";
import { OptionalLabel } from "../components/optional-label.tsx";
import { useFieldErrors } from "../components/rule-text.ts";

const USERNAME = /^[A-Za-z0-9_.-]{4,18}$/;

type Person = components["schemas"]["Subuser"];

interface NewPersonDialogProps {
  onAdded: (person: Person) => void;
  onEnd: () => void;
}

export function NewPersonDialog({ onAdded, onEnd }: NewPersonDialogProps) {
  const { t } = useLingui();
  const { notify } = useNotifications();
  const [username, setUsername] = useState("");
  const [email, setEmail] = useState("");
  const [first, setFirst] = useState(INVITED);
  const add = useChange(
    (client) =>
      client.post("/m/u/users", {
        body: { username, ...writeFirstPassword(first, email) },
      }),
    {
      onSuccess: (person) => {
        notify({
          type: "success",
          content: isInvited(first, email)
            ? t`${username} was invited. Choose what they may do.`
            : t`${username} was added. Choose what they may do.`,
        });
        onAdded(person);
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
      ready={USERNAME.test(username) && isFirstPasswordComplete(first, email)}
      onConfirm={() => add.mutate(undefined)}
      onCancel={onEnd}
    >
      <SpaceBetween size="m">
        <FormField
          label={t`User name`}
          constraintText={t`4 to 18 characters: letters, digits and the signs _ . -`}
          errorText={fieldErrors("username")}
        >
          <Input
            value={username}
            autoComplete={false}
            onChange={({ detail }) => setUsername(detail.value.trim())}
          />
        </FormField>
        <FormField label={<OptionalLabel label={t`E-mail`} />} errorText={fieldErrors("email")}>
          <Input
            type="email"
            value={email}
            autoComplete={false}
            onChange={({ detail }) => setEmail(detail.value.trim())}
          />
        </FormField>
        <FirstPassword
          value={first}
          email={email}
          onChange={setFirst}
          disabled={add.isPending}
          errorText={fieldErrors("password")}
        />
      </SpaceBetween>
    </ConfirmDialog>
  );
}
