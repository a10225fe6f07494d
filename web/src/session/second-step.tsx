// The second step of signing in: a passkey, or the code of an authenticator app.
import Alert from "@cloudscape-design/components/alert";
import Button from "@cloudscape-design/components/button";
import Container from "@cloudscape-design/components/container";
import Form from "@cloudscape-design/components/form";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import { type FormEvent, useState } from "react";
import { type ApiClient, ApiError, type Session } from "../api/client.ts";
import { useErrorText } from "../components/error-text.ts";
import { usePasskeyText } from "../security/passkey-text.ts";
import { PasskeyError, type RequestOptions, signWithPasskey } from "../security/passkeys.ts";
import { CodeField, isCode } from "../security/registration-form.tsx";

export interface SecondStep {
  token: string;
  totp: boolean;
  passkey: RequestOptions | null;
}

/** What must follow a correct password, if the refusal says so. */
export function readSecondStep(refusal: ApiError): SecondStep | undefined {
  if (refusal.code !== "second_factor_required") return undefined;
  return {
    token: String(refusal.problem.sign_in_token),
    totp: refusal.problem.totp === true,
    passkey: refusal.problem.passkey as RequestOptions | null,
  };
}

interface SecondStepFormProps {
  client: ApiClient;
  step: SecondStep;
  onSignedIn: (session: Session) => void;
  onCancel: () => void;
}

export function SecondStepForm({ client, step, onSignedIn, onCancel }: SecondStepFormProps) {
  const { t } = useLingui();
  const [code, setCode] = useState("");
  const [error, setError] = useState<ApiError | PasskeyError>();
  const [busy, setBusy] = useState<"passkey" | "code">();

  const prove = async (kind: "passkey" | "code") => {
    setBusy(kind);
    setError(undefined);
    try {
      const proof =
        kind === "passkey" && step.passkey !== null
          ? { passkey: await signWithPasskey(step.passkey) }
          : { totp_code: code.replaceAll(" ", "") };
      onSignedIn(await client.proveFactor({ sign_in_token: step.token, ...proof }));
    } catch (refusal) {
      if (!(refusal instanceof ApiError || refusal instanceof PasskeyError)) throw refusal;
      setError(refusal);
      setBusy(undefined);
    }
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    prove("code");
  };
  return (
    <form onSubmit={submit}>
      <Container header={<Header variant="h2">{t`Second step`}</Header>}>
        <Form
          actions={
            <SpaceBetween direction="horizontal" size="xs">
              <Button variant="link" formAction="none" onClick={onCancel}>
                <Trans>Cancel</Trans>
              </Button>
              {step.totp && (
                <Button
                  variant={step.passkey === null ? "primary" : "normal"}
                  formAction="submit"
                  loading={busy === "code"}
                  disabled={!isCode(code) || busy === "passkey"}
                >
                  <Trans>Sign in with the code</Trans>
                </Button>
              )}
              {step.passkey !== null && (
                <Button
                  variant="primary"
                  formAction="none"
                  loading={busy === "passkey"}
                  disabled={busy === "code"}
                  onClick={() => prove("passkey")}
                >
                  <Trans>Sign in with a passkey</Trans>
                </Button>
              )}
            </SpaceBetween>
          }
        >
          <SpaceBetween size="m">
            {error !== undefined && <SecondStepError error={error} />}
            {step.totp && <CodeField code={code} onChange={setCode} />}
            {!step.totp && step.passkey !== null && (
              <Trans>Your password is correct. Now use your passkey.</Trans>
            )}
            {!step.totp && step.passkey === null && (
              <Alert type="warning">
                <Trans>
                  Your passkeys do not work at this address. Ask an administrator to remove your
                  second factors.
                </Trans>
              </Alert>
            )}
          </SpaceBetween>
        </Form>
      </Container>
    </form>
  );
}

export function SecondStepError({ error }: { error: ApiError | PasskeyError }) {
  const { t } = useLingui();
  const errorText = useErrorText();
  const passkeyText = usePasskeyText();
  const texts: Record<string, string> = {
    second_factor_wrong: t`This did not work: the code or passkey is wrong or was used before. Try again with the next code.`,
    sign_in_expired: t`This sign-in has expired. Cancel and enter your password again.`,
    login_throttled: t`Too many wrong codes. Wait 15 minutes and try again.`,
  };
  return (
    <Alert type="error">
      {error instanceof PasskeyError
        ? passkeyText(error.failure)
        : (texts[error.code] ?? errorText(error))}
    </Alert>
  );
}
