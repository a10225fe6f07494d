// Changes the own e-mail address.
import Alert from "@cloudscape-design/components/alert";
import Button from "@cloudscape-design/components/button";
import Container from "@cloudscape-design/components/container";
import Form from "@cloudscape-design/components/form";
import FormField from "@cloudscape-design/components/form-field";
import Header from "@cloudscape-design/components/header";
import Input from "@cloudscape-design/components/input";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import { type FormEvent, useState } from "react";
import { useApi, useChange } from "../api/queries.ts";
import { useErrorText } from "../components/error-text.ts";
import { useNotifications } from "../components/notifications.tsx";
import { useSession } from "../session/session.tsx";
import { CurrentPasswordField } from "./current-password-field.tsx";

export function EmailForm() {
  const { t } = useLingui();
  const errorText = useErrorText();
  const { session } = useSession();
  const { notify } = useNotifications();
  const stored = useApi("/m/u/users/{user_id}/email", { path: { user_id: session.userId } }).data;
  const [email, setEmail] = useState("");
  const [current, setCurrent] = useState("");
  const save = useChange(
    (client) =>
      client.put("/m/u/users/{user_id}/email", {
        path: { user_id: session.userId },
        body: { email: email.trim(), old_password: current },
      }),
    {
      onSuccess: () => {
        notify({ type: "success", content: t`Your e-mail address is changed.` });
        setEmail("");
        setCurrent("");
      },
    },
  );
  const refused = (name: string) =>
    save.error?.violations.some(({ field }) => field === name) ?? false;
  const taken = save.error?.code === "email_taken";
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate(undefined);
  };
  return (
    <form onSubmit={submit}>
      <Container
        header={
          <Header
            variant="h2"
            description={t`Links for a forgotten password are mailed to this address.`}
          >
            <Trans>E-mail</Trans>
          </Header>
        }
      >
        <Form
          actions={
            <Button
              variant="primary"
              formAction="submit"
              loading={save.isPending}
              disabled={email.trim() === "" || current === ""}
            >
              <Trans>Change the address</Trans>
            </Button>
          }
        >
          <SpaceBetween size="m">
            {save.error !== null && !refused("email") && !refused("old_password") && !taken && (
              <Alert type="error">{errorText(save.error)}</Alert>
            )}
            {stored !== undefined && (
              <KeyValuePairs
                items={[
                  {
                    label: t`Current e-mail address`,
                    value: stored.email ?? t`None yet. Without one you cannot reset your password.`,
                  },
                ]}
              />
            )}
            <FormField
              label={t`New e-mail address`}
              errorText={
                refused("email")
                  ? t`This is not an e-mail address.`
                  : taken
                    ? t`Somebody else uses this address.`
                    : ""
              }
            >
              <Input
                type="email"
                value={email}
                onChange={({ detail }) => setEmail(detail.value)}
                autoComplete="email"
              />
            </FormField>
            <CurrentPasswordField
              value={current}
              onChange={setCurrent}
              wrong={refused("old_password")}
            />
          </SpaceBetween>
        </Form>
      </Container>
    </form>
  );
}
