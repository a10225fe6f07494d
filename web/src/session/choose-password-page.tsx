// Chooses a password with a mailed link.
import Alert from "@cloudscape-design/components/alert";
import Button from "@cloudscape-design/components/button";
import Container from "@cloudscape-design/components/container";
import Form from "@cloudscape-design/components/form";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import { type FormEvent, useState } from "react";
import { type ApiClient, ApiError } from "../api/client.ts";
import { useErrorText } from "../components/error-text.ts";
import { isPassword } from "../components/password.ts";
import { NewPasswordFields } from "./new-password-fields.tsx";
import type { PasswordLink } from "./password-link.ts";
import { rememberOrganisation } from "./remembered-organisation.ts";
import { SignInFrame } from "./sign-in-frame.tsx";

interface ChoosePasswordPageProps {
  client: ApiClient;
  link: PasswordLink;
  onEnd: (chosen: boolean) => void;
}

export function ChoosePasswordPage({ client, link, onEnd }: ChoosePasswordPageProps) {
  const { t } = useLingui();
  const errorText = useErrorText();
  const [password, setPassword] = useState("");
  const [repeated, setRepeated] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError>();
  const complete = link.organisation !== "" && link.token !== "";
  const usable = complete && error?.code !== "link_invalid";

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      await client.choosePassword(link.organisation, link.token, password);
      rememberOrganisation(link.organisation);
      onEnd(true);
    } catch (refusal) {
      if (!(refusal instanceof ApiError)) throw refusal;
      setError(refusal);
      setBusy(false);
    }
  };
  return (
    <SignInFrame product={client.product}>
      <form onSubmit={submit}>
        <Container header={<Header variant="h2">{t`Choose a password`}</Header>}>
          <Form
            actions={
              <SpaceBetween direction="horizontal" size="xs">
                <Button variant="link" formAction="none" onClick={() => onEnd(false)}>
                  <Trans>Back to sign-in</Trans>
                </Button>
                {usable && (
                  <Button
                    variant="primary"
                    formAction="submit"
                    loading={busy}
                    disabled={!isPassword(password) || password !== repeated}
                  >
                    <Trans>Set the password</Trans>
                  </Button>
                )}
              </SpaceBetween>
            }
          >
            <SpaceBetween size="m">
              {usable ? (
                error !== undefined && <Alert type="error">{errorText(error)}</Alert>
              ) : (
                <Alert type="error" header={t`This link no longer works.`}>
                  <Trans>
                    It was used before, has expired or is incomplete. Request a new one with "Forgot
                    your password?" on the sign-in page.
                  </Trans>
                </Alert>
              )}
              {usable && (
                <NewPasswordFields
                  password={password}
                  repeated={repeated}
                  onPassword={setPassword}
                  onRepeated={setRepeated}
                />
              )}
            </SpaceBetween>
          </Form>
        </Container>
      </form>
    </SignInFrame>
  );
}
