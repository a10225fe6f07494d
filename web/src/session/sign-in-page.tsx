// Signs a person in with organisation, name and password.
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
import { type ApiClient, ApiError, type Session } from "../api/client.ts";
import { useErrorText } from "../components/error-text.ts";
import { FactorSetup } from "./factor-setup.tsx";
import { ForgottenPasswordForm } from "./forgotten-password-form.tsx";
import { readOrganisation, rememberOrganisation } from "./remembered-organisation.ts";
import { readSecondStep, type SecondStep, SecondStepForm } from "./second-step.tsx";
import { SignInFrame } from "./sign-in-frame.tsx";

interface SignInPageProps {
  client: ApiClient;
  /** The session ended while the person was working. */
  ended: boolean;
  /** The person has just chosen a password with a link. */
  chosen?: boolean;
  onSignedIn: (session: Session) => void;
}

export function SignInPage(props: SignInPageProps) {
  return (
    <SignInFrame product={props.client.product}>
      <SignInSteps {...props} />
    </SignInFrame>
  );
}

type Step =
  | { kind: "password" }
  | { kind: "forgotten" }
  | { kind: "second"; step: SecondStep }
  | { kind: "setup"; token: string };

function SignInSteps(props: SignInPageProps) {
  const { client, onSignedIn } = props;
  const [step, setStep] = useState<Step>({ kind: "password" });
  const restart = () => setStep({ kind: "password" });
  switch (step.kind) {
    case "forgotten":
      return <ForgottenPasswordForm client={client} onEnd={restart} />;
    case "second":
      return (
        <SecondStepForm
          client={client}
          step={step.step}
          onSignedIn={onSignedIn}
          onCancel={restart}
        />
      );
    case "setup":
      return (
        <FactorSetup
          client={client}
          token={step.token}
          onSignedIn={onSignedIn}
          onCancel={restart}
        />
      );
    default:
      return <SignInForm {...props} onStep={setStep} />;
  }
}

/** What follows a correct password that is not enough; undefined for other refusals. */
function findNextStep(refusal: ApiError): Step | undefined {
  if (refusal.code === "second_factor_setup_required")
    return { kind: "setup", token: String(refusal.problem.sign_in_token) };
  const step = readSecondStep(refusal);
  return step && { kind: "second", step };
}

function SignInForm({
  client,
  ended,
  chosen = false,
  onSignedIn,
  onStep,
}: SignInPageProps & { onStep: (step: Step) => void }) {
  const { t } = useLingui();
  const errorText = useErrorText();
  const [organisation, setOrganisation] = useState(readOrganisation);
  const [username, setUsername] = useState("");
  const [password, setPassword] = useState("");
  const [error, setError] = useState<ApiError>();
  const [busy, setBusy] = useState(false);

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      const session = await client.signIn(organisation.trim(), username.trim(), password);
      rememberOrganisation(organisation.trim());
      onSignedIn(session);
    } catch (refusal) {
      if (!(refusal instanceof ApiError)) throw refusal;
      const next = findNextStep(refusal);
      if (next === undefined) return setError(refusal);
      rememberOrganisation(organisation.trim());
      onStep(next);
    } finally {
      setBusy(false);
    }
  };
  const wrong = error?.code === "credentials_wrong";
  return (
    <form onSubmit={submit}>
      <Container header={<Header variant="h2">{t`Sign in`}</Header>}>
        <Form
          actions={
            <SpaceBetween direction="horizontal" size="xs">
              <Button
                variant="link"
                formAction="none"
                onClick={() => onStep({ kind: "forgotten" })}
              >
                <Trans>Forgot your password?</Trans>
              </Button>
              <Button
                variant="primary"
                formAction="submit"
                loading={busy}
                disabled={!organisation.trim() || !username.trim() || !password}
              >
                <Trans>Sign in</Trans>
              </Button>
            </SpaceBetween>
          }
        >
          <SpaceBetween size="m">
            {ended && error === undefined && (
              <Alert type="info">
                <Trans>Your session has ended. Sign in again.</Trans>
              </Alert>
            )}
            {chosen && error === undefined && (
              <Alert type="success">
                <Trans>Your new password is set. Sign in with it.</Trans>
              </Alert>
            )}
            {error !== undefined && (
              <Alert type="error">
                {wrong ? t`The organisation, the name or the password is wrong.` : errorText(error)}
              </Alert>
            )}
            <FormField
              label={t`Organisation`}
              description={t`Its short name or its id. Your administrator knows it.`}
            >
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
  );
}
