// How invoices are mailed, and from when customers see them in the portal.
import ColumnLayout from "@cloudscape-design/components/column-layout";
import FormField from "@cloudscape-design/components/form-field";
import RadioGroup from "@cloudscape-design/components/radio-group";
import { useLingui } from "@lingui/react/macro";
import { type PublicationChoice, PublicationTime } from "../../../components/publication-time.tsx";
import { useTimeZone } from "../../me.ts";

export interface SendingChoice extends PublicationChoice {
  method: "pdf" | "link";
}

export const AT_ONCE: SendingChoice = { method: "pdf", later: false, date: "", time: "09:00" };

interface SendingOptionsProps {
  choice: SendingChoice;
  onChange: (choice: SendingChoice) => void;
}

export function SendingOptions({ choice, onChange }: SendingOptionsProps) {
  const { t } = useLingui();
  const timeZone = useTimeZone();
  return (
    <ColumnLayout columns={2}>
      <FormField label={t`How the invoice is sent`}>
        <RadioGroup
          value={choice.method}
          items={[
            { value: "pdf", label: t`PDF attached to the mail` },
            {
              value: "link",
              label: t`Link to the portal`,
              description: t`The mail leaves when the invoice is published.`,
            },
          ]}
          onChange={({ detail }) =>
            onChange({ ...choice, method: detail.value === "link" ? "link" : "pdf" })
          }
        />
      </FormField>
      <FormField label={t`Publication in the portal`}>
        <PublicationTime
          choice={choice}
          nowLabel={t`When it is sent`}
          timeZone={timeZone}
          onChange={(time) => onChange({ ...choice, ...time })}
        />
      </FormField>
    </ColumnLayout>
  );
}
