// How a new person gets a password: by an invitation, or by somebody who sets it.
import Checkbox from "@cloudscape-design/components/checkbox";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useLingui } from "@lingui/react/macro";
import { inventPassword, isPassword } from "./password.ts";
import { PasswordField } from "./password-field.tsx";

export interface FirstPasswordChoice {
  invited: boolean;
  password: string;
}

export const INVITED: FirstPasswordChoice = { invited: true, password: "" };

interface FirstPasswordProps {
  value: FirstPasswordChoice;
  /** An invitation needs an address. */
  email: string;
  onChange: (value: FirstPasswordChoice) => void;
  errorText: string;
  disabled: boolean;
}

export function FirstPassword({ value, email, onChange, errorText, disabled }: FirstPasswordProps) {
  const { t } = useLingui();
  const invited = isInvited(value, email);
  return (
    <SpaceBetween size="m">
      <Checkbox
        checked={invited}
        disabled={disabled || email === ""}
        description={
          email === ""
            ? t`Enter an e-mail address to invite the person.`
            : t`The person chooses a password with a link, which is valid for seven days.`
        }
        onChange={({ detail }) => onChange({ ...value, invited: detail.checked })}
      >
        {t`Send an invitation by e-mail`}
      </Checkbox>
      {!invited && (
        <PasswordField
          value={value.password}
          onChange={(password) => onChange({ ...value, password })}
          errorText={errorText}
          disabled={disabled}
        />
      )}
    </SpaceBetween>
  );
}

export function isInvited({ invited }: FirstPasswordChoice, email: string): boolean {
  return invited && email !== "";
}

export function isFirstPasswordComplete(choice: FirstPasswordChoice, email: string): boolean {
  return isInvited(choice, email) || isPassword(choice.password);
}

/** The fields of the request; nobody knows the password of an invited person. */
export function writeFirstPassword(choice: FirstPasswordChoice, email: string) {
  const invited = isInvited(choice, email);
  return {
    password: invited ? inventPassword() : choice.password,
    ...(email !== "" && { email }),
    notification: { email: invited ? ("true" as const) : ("false" as const) },
  };
}
