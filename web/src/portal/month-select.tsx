// Chooses one of the last 24 months.
import FormField from "@cloudscape-design/components/form-field";
import Select from "@cloudscape-design/components/select";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useLingui } from "@lingui/react/macro";
import { currentMonth, formatMonth, shiftMonth } from "../components/month.ts";
import { useLanguage } from "../language/language.tsx";

const MONTHS = 24;

interface MonthSelectProps {
  month: string;
  onChange: (month: string) => void;
}

export function MonthSelect({ month, onChange }: MonthSelectProps) {
  const { t } = useLingui();
  const { language } = useLanguage();
  const listed = Array.from({ length: MONTHS }, (_, index) => shiftMonth(currentMonth(), -index));
  const months = listed.includes(month) ? listed : [month, ...listed];
  const options = months.map((value) => ({ value, label: formatMonth(value, language) }));
  return (
    // keeps the field as narrow as its text
    <SpaceBetween direction="horizontal" size="s">
      <FormField label={t`Month`}>
        <Select
          selectedOption={options.find((option) => option.value === month) ?? null}
          options={options}
          expandToViewport
          onChange={({ detail }) => onChange(detail.selectedOption.value ?? month)}
        />
      </FormField>
    </SpaceBetween>
  );
}
