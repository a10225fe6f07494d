// Adds an own second factor: first the password, then the passkey or the first code.
import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Modal from "@cloudscape-design/components/modal";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import { type FormEvent, useState } from "react";
import type { ApiError } from "../api/client.ts";
import { useChange } from "../api/queries.ts";
import { useErrorText } from "../components/error-text.ts";
import { useNotifications } from "../components/notifications.tsx";
import { CurrentPasswordField } from "./current-password-field.tsx";
import type { SecondFactor } from "./factor-list.tsx";
import type { PasskeyError } from "./passkeys.ts";
import {
  buildProof,
  isCode,
  type Registration,
  RegistrationFields,
  useFactorName,
} from "./registration-form.tsx";

interface AddFactorDialogProps {
  kind: SecondFactor["kind"];
  onEnd: () => void;
}

export function AddFactorDialog({ kind, onEnd }: AddFactorDialogProps) {
  const [registration, setRegistration] = useState<Registration>();
  return registration === undefined ? (
    <PasswordStep kind={kind} onEnd={onEnd} onBegun={setRegistration} />
  ) : (
    <ProofStep registration={registration} onEnd={onEnd} />
  );
}

function PasswordStep({
  kind,
  onEnd,
  onBegun,
}: AddFactorDialogProps & { onBegun: (registration: Registration) => void }) {
  const errorText = useErrorText();
  const [password, setPassword] = useState("");
  const begin = useChange(
    (client) =>
      client.post("/m/u/second-factors/registrations", { body: { kind, old_password: password } }),
    { onSuccess: onBegun },
  );
  const wrong = begin.error?.violations.some(({ field }) => field === "old_password") ?? false;
  return (
    <FactorDialog
      kind={kind}
      onEnd={onEnd}
      busy={begin.isPending}
      ready={password !== ""}
      onSubmit={() => begin.mutate(undefined)}
    >
      {begin.error !== null && !wrong && <Alert type="error">{errorText(begin.error)}</Alert>}
      <CurrentPasswordField value={password} onChange={setPassword} wrong={wrong} />
    </FactorDialog>
  );
}

function ProofStep({ registration, onEnd }: { registration: Registration; onEnd: () => void }) {
  const { t } = useLingui();
  const { notify } = useNotifications();
  const usualName = useFactorName()(registration.kind);
  const [name, setName] = useState(usualName);
  const [code, setCode] = useState("");
  const add = useChange(
    async (client) =>
      client.post("/m/u/second-factors", {
        body: await buildProof(registration, name.trim(), code),
      }),
    {
      onSuccess: () => {
        notify({ type: "success", content: t`The second factor was added.` });
        onEnd();
      },
    },
  );
  return (
    <FactorDialog
      kind={registration.kind}
      onEnd={onEnd}
      busy={add.isPending}
      ready={name.trim() !== "" && (registration.totp === null || isCode(code))}
      onSubmit={() => add.mutate(undefined)}
    >
      <RegistrationFields
        registration={registration}
        name={name}
        onName={setName}
        code={code}
        onCode={setCode}
        error={add.error as ApiError | PasskeyError | null}
      />
    </FactorDialog>
  );
}

interface FactorDialogProps extends AddFactorDialogProps {
  busy: boolean;
  ready: boolean;
  onSubmit: () => void;
  children: React.ReactNode;
}

function FactorDialog(props: FactorDialogProps) {
  const { t } = useLingui();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (props.ready) props.onSubmit();
  };
  return (
    <Modal
      visible
      header={props.kind === "passkey" ? t`Add a passkey` : t`Add an authenticator app`}
      closeAriaLabel={t`Close`}
      onDismiss={props.onEnd}
      footer={
        <Box float="right">
          <SpaceBetween direction="horizontal" size="xs">
            <Button variant="link" onClick={props.onEnd}>
              <Trans>Cancel</Trans>
            </Button>
            <Button
              variant="primary"
              disabled={!props.ready}
              loading={props.busy}
              onClick={props.onSubmit}
            >
              <Trans>Continue</Trans>
            </Button>
          </SpaceBetween>
        </Box>
      }
    >
      <form onSubmit={submit}>
        <SpaceBetween size="m">{props.children}</SpaceBetween>
      </form>
    </Modal>
  );
}
