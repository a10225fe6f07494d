// From when customers see an invoice in the portal: at once, or at a time in the organisation's zone.
import Box from "@cloudscape-design/components/box";
import DateInput from "@cloudscape-design/components/date-input";
import FormField from "@cloudscape-design/components/form-field";
import RadioGroup from "@cloudscape-design/components/radio-group";
import SpaceBetween from "@cloudscape-design/components/space-between";
import TimeInput from "@cloudscape-design/components/time-input";
import { Trans, useLingui } from "@lingui/react/macro";
import { type ClockTime, findInstant } from "./zoned-time.ts";

export interface PublicationChoice extends ClockTime {
  later: boolean;
}

/** The chosen time, null for at once, and undefined while it is incomplete. */
export function readPublishTime(
  choice: PublicationChoice,
  timeZone: string,
): string | null | undefined {
  return choice.later ? findInstant(choice, timeZone) : null;
}

interface PublicationTimeProps {
  choice: PublicationChoice;
  /** What "at once" means here. */
  nowLabel: string;
  timeZone: string;
  onChange: (choice: PublicationChoice) => void;
}

export function PublicationTime({ choice, nowLabel, timeZone, onChange }: PublicationTimeProps) {
  const { t } = useLingui();
  return (
    <SpaceBetween size="xs">
      <RadioGroup
        value={choice.later ? "later" : "now"}
        items={[
          { value: "now", label: nowLabel },
          { value: "later", label: t`At a chosen time` },
        ]}
        onChange={({ detail }) => onChange({ ...choice, later: detail.value === "later" })}
      />
      {choice.later && (
        <>
          <SpaceBetween direction="horizontal" size="xs">
            <FormField label={t`Date of publication`}>
              <DateInput
                placeholder="YYYY/MM/DD"
                value={choice.date}
                onChange={({ detail }) => onChange({ ...choice, date: detail.value })}
              />
            </FormField>
            <FormField label={t`Time of publication`}>
              <TimeInput
                format="hh:mm"
                placeholder="hh:mm"
                value={choice.time}
                onChange={({ detail }) => onChange({ ...choice, time: detail.value })}
              />
            </FormField>
          </SpaceBetween>
          <Box variant="small" color="text-body-secondary">
            <Trans>
              In the time zone of your organisation, {timeZone}. At most 366 days from now.
            </Trans>
          </Box>
        </>
      )}
    </SpaceBetween>
  );
}
