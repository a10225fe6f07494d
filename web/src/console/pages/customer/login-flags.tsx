// The flags of a portal login, as check boxes with sentences.
import Checkbox from "@cloudscape-design/components/checkbox";
import ColumnLayout from "@cloudscape-design/components/column-layout";
import FormField from "@cloudscape-design/components/form-field";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { usePortalFlags } from "./portal-flags.ts";

interface LoginFlagsProps {
  meta: Record<string, boolean>;
  onChange: (meta: Record<string, boolean>) => void;
}

export function LoginFlags({ meta, onChange }: LoginFlagsProps) {
  return (
    <ColumnLayout columns={2}>
      {usePortalFlags().map((group) => (
        <FormField key={group.title} label={group.title}>
          <SpaceBetween size="xxs">
            {group.flags.map(({ name, text }) => (
              <Checkbox
                key={name}
                checked={meta[name] ?? false}
                onChange={({ detail }) => onChange({ ...meta, [name]: detail.checked })}
              >
                {text}
              </Checkbox>
            ))}
          </SpaceBetween>
        </FormField>
      ))}
    </ColumnLayout>
  );
}
