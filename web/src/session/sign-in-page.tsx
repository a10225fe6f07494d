// Signs a person in with organisation, name and password.
import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Container from "@cloudscape-design/components/container";
import Form from "@cloudscape-design/components/form";
import FormField from "@cloudscape-design/components/form-field";
import Header from "@cloudscape-design/components/header";
import Input from "@cloudscape-design/components/input";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import { type FormEvent, useEffect, useState } from "react";
import { type ApiClient, ApiError, type Session } from "../api/client.ts";
import { useErrorText } from "../components/error-text.ts";
import { LanguageSwitch } from "../language/language-switch.tsx";
import "./sign-in-page.css";

const ORGANISATION_KEY = "nimbill-organisation";

interface SignInPageProps {
  client: ApiClient;
  /** The session ended while the person was working. */
  ended: boolean;
  onSignedIn: (session: Session) => void;
}

export function SignInPage({ client, ended, onSignedIn }: SignInPageProps) {
  const { t } = useLingui();
  const errorText = useErrorText();
  const [organisation, setOrganisation] = useState(localStorage.getItem(ORGANISATION_KEY) ?? "");
  const [username, setUsername] = useState("");
  const [password, setPassword] = useState("");
  const [error, setError] = useState<ApiError>();
  const [busy, setBusy] = useState(false);
  const title = client.product === "portal" ? t`Customer portal` : t`Reseller console`;

  useEffect(() => {
    document.title = `${title} | Nimbill`;
  }, [title]);

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      const session = await client.signIn(organisation.trim(), username.trim(), password);
      localStorage.setItem(ORGANISATION_KEY, organisation.trim());
      onSignedIn(session);
    } catch (refusal) {
      if (!(refusal instanceof ApiError)) throw refusal;
      setError(refusal);
    } finally {
      setBusy(false);
    }
  };
  const wrong = error?.code === "credentials_wrong";
  return (
    <main className="sign-in">
      <SpaceBetween size="l">
        <Box textAlign="center">
          <Box variant="h1" fontSize="display-l">
            Nimbill
          </Box>
          <Box color="text-body-secondary">{title}</Box>
        </Box>
        <form onSubmit={submit}>
          <Container header={<Header variant="h2">{t`Sign in`}</Header>}>
            <Form
              actions={
                <Button
                  variant="primary"
                  formAction="submit"
                  loading={busy}
                  disabled={!organisation.trim() || !username.trim() || !password}
                >
                  <Trans>Sign in</Trans>
                </Button>
              }
            >
              <SpaceBetween size="m">
                {ended && error === undefined && (
                  <Alert type="info">
                    <Trans>Your session has ended. Sign in again.</Trans>
                  </Alert>
                )}
                {error !== undefined && (
                  <Alert type="error">
                    {wrong
                      ? t`The organisation, the name or the password is wrong.`
                      : errorText(error)}
                  </Alert>
                )}
                <FormField label={t`Organisation`} description={t`Its short name or its id`}>
                  <Input
                    value={organisation}
                    onChange={({ detail }) => setOrganisation(detail.value)}
                    name="organisation"
                    autoComplete="organization"
                    autoFocus={organisation === ""}
                  />
                </FormField>
                <FormField label={t`User name`}>
                  <Input
                    value={username}
                    onChange={({ detail }) => setUsername(detail.value)}
                    name="username"
                    autoComplete="username"
                    autoFocus={organisation !== ""}
                  />
                </FormField>
                <FormField label={t`Password`}>
                  <Input
                    type="password"
                    value={password}
                    onChange={({ detail }) => setPassword(detail.value)}
                    name="password"
                    autoComplete="current-password"
                  />
                </FormField>
              </SpaceBetween>
            </Form>
          </Container>
        </form>
        <Box textAlign="center">
          <LanguageSwitch />
        </Box>
      </SpaceBetween>
    </main>
  );
}
