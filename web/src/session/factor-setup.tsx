// Registers the first second factor while signing in, because the organisation requires one.
import Button from "@cloudscape-design/components/button";
import Container from "@cloudscape-design/components/container";
import Form from "@cloudscape-design/components/form";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import { type FormEvent, useState } from "react";
import { type ApiClient, ApiError, type Session } from "../api/client.ts";
import { PasskeyError } from "../security/passkeys.ts";
import {
  buildProof,
  isCode,
  type Registration,
  RegistrationFields,
  useFactorName,
} from "../security/registration-form.tsx";
import { SecondStepError } from "./second-step.tsx";

interface FactorSetupProps {
  client: ApiClient;
  token: string;
  onSignedIn: (session: Session) => void;
  onCancel: () => void;
}

export function FactorSetup(props: FactorSetupProps) {
  const [registration, setRegistration] = useState<Registration>();
  return registration === undefined ? (
    <KindForm {...props} onBegun={setRegistration} />
  ) : (
    <ProofForm {...props} registration={registration} onBack={() => setRegistration(undefined)} />
  );
}

function KindForm({
  client,
  token,
  onCancel,
  onBegun,
}: FactorSetupProps & { onBegun: (registration: Registration) => void }) {
  const { t } = useLingui();
  const [error, setError] = useState<ApiError>();
  const [busy, setBusy] = useState<Registration["kind"]>();
  const begin = async (kind: Registration["kind"]) => {
    setBusy(kind);
    try {
      onBegun(await client.beginSetup({ sign_in_token: token, kind }));
    } catch (refusal) {
      if (!(refusal instanceof ApiError)) throw refusal;
      setError(refusal);
      setBusy(undefined);
    }
  };
  return (
    <Container header={<Header variant="h2">{t`Set up a second factor`}</Header>}>
      <Form
        actions={
          <SpaceBetween direction="horizontal" size="xs">
            <Button variant="link" onClick={onCancel}>
              <Trans>Cancel</Trans>
            </Button>
            <Button loading={busy === "totp"} onClick={() => begin("totp")}>
              <Trans>Use an authenticator app</Trans>
            </Button>
            <Button variant="primary" loading={busy === "passkey"} onClick={() => begin("passkey")}>
              <Trans>Use a passkey</Trans>
            </Button>
          </SpaceBetween>
        }
      >
        <SpaceBetween size="m">
          {error !== undefined && <SecondStepError error={error} />}
          <Trans>
            Your organisation requires a second factor. Register one now; you need it whenever you
            sign in.
          </Trans>
        </SpaceBetween>
      </Form>
    </Container>
  );
}

function ProofForm({
  client,
  registration,
  onSignedIn,
  onBack,
}: FactorSetupProps & { registration: Registration; onBack: () => void }) {
  const { t } = useLingui();
  const usualName = useFactorName()(registration.kind);
  const [name, setName] = useState(usualName);
  const [code, setCode] = useState("");
  const [error, setError] = useState<ApiError | PasskeyError>();
  const [busy, setBusy] = useState(false);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      onSignedIn(await client.completeSetup(await buildProof(registration, name.trim(), code)));
    } catch (refusal) {
      if (!(refusal instanceof ApiError || refusal instanceof PasskeyError)) throw refusal;
      setError(refusal);
      setBusy(false);
    }
  };
  const expired = error instanceof ApiError && error.code === "sign_in_expired";
  return (
    <form onSubmit={submit}>
      <Container header={<Header variant="h2">{t`Set up a second factor`}</Header>}>
        <Form
          actions={
            <SpaceBetween direction="horizontal" size="xs">
              <Button variant="link" formAction="none" onClick={onBack}>
                <Trans>Back</Trans>
              </Button>
              <Button
                variant="primary"
                formAction="submit"
                loading={busy}
                disabled={name.trim() === "" || (registration.totp !== null && !isCode(code))}
              >
                <Trans>Register and sign in</Trans>
              </Button>
            </SpaceBetween>
          }
        >
          <SpaceBetween size="m">
            {expired && <SecondStepError error={error} />}
            <RegistrationFields
              registration={registration}
              name={name}
              onName={setName}
              code={code}
              onCode={setCode}
              error={expired ? null : (error ?? null)}
            />
          </SpaceBetween>
        </Form>
      </Container>
    </form>
  );
}
