// A field for a new password, which can be invented and copied.
import Button from "@cloudscape-design/components/button";
import CopyToClipboard from "@cloudscape-design/components/copy-to-clipboard";
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { inventPassword } from "./password.ts";

interface PasswordFieldProps {
  value: string;
  onChange: (value: string) => void;
  errorText: string;
  disabled: boolean;
}

export function PasswordField({ value, onChange, errorText, disabled }: PasswordFieldProps) {
  const { t } = useLingui();
  const [shown, setShown] = useState(false);
  return (
    <FormField
      label={t`Password`}
      description={t`Give it to the person in a safe way. It is not shown again.`}
      constraintText={t`8 to 18 characters`}
      errorText={errorText}
      secondaryControl={
        <SpaceBetween direction="horizontal" size="xs">
          <Button
            disabled={disabled}
            onClick={() => {
              onChange(inventPassword());
              setShown(true);
            }}
          >
            <Trans>Suggest one</Trans>
          </Button>
          {shown && value !== "" && (
            <CopyToClipboard
              variant="icon"
              copyButtonAriaLabel={t`Copy the password`}
              copySuccessText={t`Copied`}
              copyErrorText={t`Copying failed`}
              textToCopy={value}
            />
          )}
        </SpaceBetween>
      }
    >
      <Input
        type={shown ? "text" : "password"}
        value={value}
        disabled={disabled}
        autoComplete="new-password"
        onChange={({ detail }) => onChange(detail.value)}
      />
    </FormField>
  );
}
