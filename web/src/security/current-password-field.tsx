// The password that proves that the person at the keyboard is the one who signed in.
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import { useLingui } from "@lingui/react/macro";

interface CurrentPasswordFieldProps {
  value: string;
  onChange: (value: string) => void;
  /** The service refused the password. */
  wrong: boolean;
}

export function CurrentPasswordField({ value, onChange, wrong }: CurrentPasswordFieldProps) {
  const { t } = useLingui();
  return (
    <FormField
      label={t`Current password`}
      errorText={wrong ? t`This is not your current password.` : ""}
    >
      <Input
        type="password"
        value={value}
        onChange={({ detail }) => onChange(detail.value)}
        autoComplete="current-password"
      />
    </FormField>
  );
}
