// Registers a passkey or an authenticator app: shows what to do, and collects the proof.
import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import CopyToClipboard from "@cloudscape-design/components/copy-to-clipboard";
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import type { ApiError } from "../api/client.ts";
import type { components } from "../api/schema.ts";
import { useErrorText } from "../components/error-text.ts";
import { usePasskeyText } from "./passkey-text.ts";
import { createPasskey, PasskeyError } from "./passkeys.ts";
import { QrCode } from "./qr-code.tsx";

export type Registration = components["schemas"]["FactorRegistration"];
export type FactorProof = components["schemas"]["SecondFactorCreate"];

/** A name that tells the factors of a person apart later. */
export function useFactorName(): (kind: Registration["kind"]) => string {
  const { t } = useLingui();
  return (kind) => (kind === "passkey" ? t`Passkey` : t`Authenticator app`);
}

/** Asks the browser for a passkey, or takes the typed code. */
export async function buildProof(
  registration: Registration,
  name: string,
  code: string,
): Promise<FactorProof> {
  const proof = { registration_token: registration.registration_token, name };
  if (registration.passkey !== null)
    return { ...proof, passkey: await createPasskey(registration.passkey) };
  return { ...proof, totp_code: code.replaceAll(" ", "") };
}

export function isCode(code: string): boolean {
  return /^[0-9]{6}$/.test(code.replaceAll(" ", ""));
}

interface CodeFieldProps {
  code: string;
  onChange: (code: string) => void;
  errorText?: string;
}

export function CodeField({ code, onChange, errorText = "" }: CodeFieldProps) {
  const { t } = useLingui();
  return (
    <FormField label={t`Code`} constraintText={t`6 digits`} errorText={errorText}>
      <Input
        value={code}
        onChange={({ detail }) => onChange(detail.value)}
        inputMode="numeric"
        autoComplete="one-time-code"
        name="code"
        autoFocus
      />
    </FormField>
  );
}

interface RegistrationFieldsProps {
  registration: Registration;
  name: string;
  onName: (name: string) => void;
  code: string;
  onCode: (code: string) => void;
  error: ApiError | PasskeyError | null;
}

export function RegistrationFields(props: RegistrationFieldsProps) {
  const { t } = useLingui();
  const { registration, error } = props;
  const wrongCode =
    error !== null &&
    !(error instanceof PasskeyError) &&
    error.violations.some(({ field }) => field === "totp_code");
  return (
    <SpaceBetween size="m">
      {error !== null && !wrongCode && <RegistrationError error={error} />}
      <FormField
        label={t`Name`}
        description={t`It tells your factors apart, for example by the device.`}
      >
        <Input
          value={props.name}
          onChange={({ detail }) => props.onName(detail.value)}
          autoComplete={false}
        />
      </FormField>
      {registration.totp === null ? (
        <Box>
          <Trans>
            The browser asks for a fingerprint, a face, a PIN or a security key. The passkey stays
            on your device; the service stores its public key only.
          </Trans>
        </Box>
      ) : (
        <SpaceBetween size="m">
          <Box>
            <Trans>
              Scan the QR code with the app, or add the key as a time-based code. Then type the code
              that the app shows.
            </Trans>
          </Box>
          <QrCode text={registration.totp.uri} label={t`QR code for the authenticator app`} />
          <CopyRow label={t`Key`} text={registration.totp.secret} />
          <CopyRow label={t`Address for apps`} text={registration.totp.uri} />
          <CodeField
            code={props.code}
            onChange={props.onCode}
            errorText={wrongCode ? t`This is not the code that the app shows now.` : ""}
          />
        </SpaceBetween>
      )}
    </SpaceBetween>
  );
}

function CopyRow({ label, text }: { label: string; text: string }) {
  const { t } = useLingui();
  return (
    <div>
      <Box variant="awsui-key-label">{label}</Box>
      <CopyToClipboard
        variant="inline"
        textToCopy={text}
        copyButtonAriaLabel={t`Copy`}
        copySuccessText={t`Copied`}
        copyErrorText={t`Copying failed. Select the text instead.`}
      />
    </div>
  );
}

function RegistrationError({ error }: { error: ApiError | PasskeyError }) {
  const errorText = useErrorText();
  const passkeyText = usePasskeyText();
  return (
    <Alert type="error">
      {error instanceof PasskeyError ? passkeyText(error.failure) : errorText(error)}
    </Alert>
  );
}
