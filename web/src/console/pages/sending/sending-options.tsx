// How invoices are mailed, and from when customers see them in the portal.
import ColumnLayout from "@cloudscape-design/components/column-layout";
import DateInput from "@cloudscape-design/components/date-input";
import FormField from "@cloudscape-design/components/form-field";
import RadioGroup from "@cloudscape-design/components/radio-group";
import SpaceBetween from "@cloudscape-design/components/space-between";
import TimeInput from "@cloudscape-design/components/time-input";
import { useLingui } from "@lingui/react/macro";

export interface SendingChoice {
  method: "pdf" | "link";
  later: boolean;
  date: string;
  time: string;
}

export const AT_ONCE: SendingChoice = { method: "pdf", later: false, date: "", time: "09:00" };

/** The chosen time, null for at once, and undefined while it is incomplete. */
export function readPublishTime(choice: SendingChoice): string | null | undefined {
  if (!choice.later) return null;
  const chosen = new Date(`${choice.date}T${choice.time}`);
  return Number.isNaN(chosen.getTime()) ? undefined : chosen.toISOString();
}

interface SendingOptionsProps {
  choice: SendingChoice;
  onChange: (choice: SendingChoice) => void;
}

export function SendingOptions({ choice, onChange }: SendingOptionsProps) {
  const { t } = useLingui();
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
        <SpaceBetween size="xs">
          <RadioGroup
            value={choice.later ? "later" : "now"}
            items={[
              { value: "now", label: t`When it is sent` },
              { value: "later", label: t`At a chosen time` },
            ]}
            onChange={({ detail }) => onChange({ ...choice, later: detail.value === "later" })}
          />
          {choice.later && (
            <SpaceBetween direction="horizontal" size="xs">
              <DateInput
                ariaLabel={t`Date of publication`}
                placeholder="YYYY/MM/DD"
                value={choice.date}
                onChange={({ detail }) => onChange({ ...choice, date: detail.value })}
              />
              <TimeInput
                ariaLabel={t`Time of publication`}
                format="hh:mm"
                placeholder="hh:mm"
                value={choice.time}
                onChange={({ detail }) => onChange({ ...choice, time: detail.value })}
              />
            </SpaceBetween>
          )}
        </SpaceBetween>
      </FormField>
    </ColumnLayout>
  );
}
