// Asks how the password of a portal login is made, and shows a generated one once.
import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import CopyToClipboard from "@cloudscape-design/components/copy-to-clipboard";
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import Modal from "@cloudscape-design/components/modal";
import RadioGroup from "@cloudscape-design/components/radio-group";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";

export interface PasswordChoice {
  kind: "shown" | "mailed" | "typed";
  password: string;
}
export const NEW_PASSWORD: PasswordChoice = { kind: "shown", password: "" };

export function isPasswordReady(choice: PasswordChoice): boolean {
  return choice.kind !== "typed" || (choice.password.length >= 8 && choice.password.length <= 18);
}

export function writePassword(choice: PasswordChoice) {
  if (choice.kind === "typed")
    return { input_type: "Custom" as const, notification: false, password: choice.password };
  return { input_type: "Auto" as const, notification: choice.kind === "mailed" };
}

interface PasswordFieldsProps {
  choice: PasswordChoice;
  onChange: (choice: PasswordChoice) => void;
}

export function PasswordFields({ choice, onChange }: PasswordFieldsProps) {
  const { t } = useLingui();
  return (
    <>
      <FormField label={t`Password`}>
        <RadioGroup
          value={choice.kind}
          items={[
            {
              value: "shown",
              label: t`Generate it and show it once`,
              description: t`You pass it on yourself.`,
            },
            {
              value: "mailed",
              label: t`Generate it and send it by e-mail`,
              description: t`The service needs a mail server for this.`,
            },
            { value: "typed", label: t`Enter it`, description: t`8 to 18 characters.` },
          ]}
          onChange={({ detail }) =>
            onChange({ ...choice, kind: detail.value as PasswordChoice["kind"] })
          }
        />
      </FormField>
      {choice.kind === "typed" && (
        <FormField
          label={t`New password`}
          errorText={
            choice.password !== "" && !isPasswordReady(choice) ? t`8 to 18 characters.` : ""
          }
        >
          <Input
            type="password"
            value={choice.password}
            autoComplete="new-password"
            onChange={({ detail }) => onChange({ ...choice, password: detail.value })}
          />
        </FormField>
      )}
    </>
  );
}

export function ShownPassword({
  email,
  password,
  onEnd,
}: {
  email: string;
  password: string;
  onEnd: () => void;
}) {
  const { t } = useLingui();
  return (
    <Modal
      visible
      header={t`Password of ${email}`}
      closeAriaLabel={t`Close`}
      onDismiss={onEnd}
      footer={
        <Box float="right">
          <Button variant="primary" onClick={onEnd}>
            <Trans>Close</Trans>
          </Button>
        </Box>
      }
    >
      <SpaceBetween size="m">
        <Alert type="warning">
          <Trans>Pass the password on now. It cannot be shown again.</Trans>
        </Alert>
        <CopyToClipboard
          variant="inline"
          textToCopy={password}
          copyButtonAriaLabel={t`Copy the password`}
          copySuccessText={t`The password was copied.`}
          copyErrorText={t`The password could not be copied.`}
        />
      </SpaceBetween>
    </Modal>
  );
}
