// Asks for a mail with a link to a new password.
import Alert from "@cloudscape-design/components/alert";
import Button from "@cloudscape-design/components/button";
import Container from "@cloudscape-design/components/container";
import Form from "@cloudscape-design/components/form";
import FormField from "@cloudscape-design/components/form-field";
import Header from "@cloudscape-design/components/header";
import Input from "@cloudscape-design/components/input";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import { type FormEvent, useState } from "react";
import { type ApiClient, ApiError } from "../api/client.ts";
import { useErrorText } from "../components/error-text.ts";
import { readOrganisation } from "./remembered-organisation.ts";

export function ForgottenPasswordForm({ client, onEnd }: { client: ApiClient; onEnd: () => void }) {
  const { t } = useLingui();
  const errorText = useErrorText();
  const [organisation, setOrganisation] = useState(readOrganisation);
  const [username, setUsername] = useState("");
  const [state, setState] = useState<"asking" | "busy" | "sent">("asking");
  const [error, setError] = useState<ApiError>();

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setState("busy");
    setError(undefined);
    try {
      await client.requestPasswordLink(organisation.trim(), username.trim());
      setState("sent");
    } catch (refusal) {
      if (!(refusal instanceof ApiError)) throw refusal;
      setError(refusal);
      setState("asking");
    }
  };
  return (
    <form onSubmit={submit}>
      <Container
        header={
          <Header
            variant="h2"
            description={t`We mail you a link with which you choose a new password.`}
          >
            <Trans>Forgotten password</Trans>
          </Header>
        }
      >
        <Form
          actions={
            <SpaceBetween direction="horizontal" size="xs">
              <Button variant="link" formAction="none" onClick={onEnd}>
                <Trans>Back to sign-in</Trans>
              </Button>
              {state !== "sent" && (
                <Button
                  variant="primary"
                  formAction="submit"
                  loading={state === "busy"}
                  disabled={!organisation.trim() || !username.trim()}
                >
                  <Trans>Send the link</Trans>
                </Button>
              )}
            </SpaceBetween>
          }
        >
          {state === "sent" ? (
            <Alert type="success" header={t`Look into your mailbox.`}>
              <Trans>
                If this user exists and has an e-mail address, a link is on its way. It works once,
                within one hour. If no mail comes, ask an administrator.
              </Trans>
            </Alert>
          ) : (
            <SpaceBetween size="m">
              {error !== undefined && <Alert type="error">{errorText(error)}</Alert>}
              <FormField
                label={t`Organisation`}
                description={t`Its short name or its id. Your administrator knows it.`}
              >
                <Input
                  value={organisation}
                  onChange={({ detail }) => setOrganisation(detail.value)}
                  name="organisation"
                  autoComplete="organization"
                />
              </FormField>
              <FormField label={t`User name or e-mail address`}>
                <Input
                  value={username}
                  onChange={({ detail }) => setUsername(detail.value)}
                  name="username"
                  autoComplete="username"
                />
              </FormField>
            </SpaceBetween>
          )}
        </Form>
      </Container>
    </form>
  );
}
