// Two fields for a new password of one's own.
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useLingui } from "@lingui/react/macro";

interface NewPasswordFieldsProps {
  password: string;
  repeated: string;
  onPassword: (value: string) => void;
  onRepeated: (value: string) => void;
}

export function NewPasswordFields(props: NewPasswordFieldsProps) {
  const { t } = useLingui();
  const differs = props.repeated !== "" && props.repeated !== props.password;
  return (
    <SpaceBetween size="m">
      <FormField label={t`New password`} constraintText={t`8 to 18 characters`}>
        <Input
          type="password"
          value={props.password}
          onChange={({ detail }) => props.onPassword(detail.value)}
          name="new-password"
          autoComplete="new-password"
        />
      </FormField>
      <FormField
        label={t`Repeat the new password`}
        errorText={differs ? t`The passwords are not the same.` : ""}
      >
        <Input
          type="password"
          value={props.repeated}
          onChange={({ detail }) => props.onRepeated(detail.value)}
          name="repeated-password"
          autoComplete="new-password"
        />
      </FormField>
    </SpaceBetween>
  );
}
