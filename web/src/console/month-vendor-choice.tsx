// Chooses the month and the vendor that a page shows.
import Select from "@cloudscape-design/components/select";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useLingui } from "@lingui/react/macro";
import { useApi } from "../api/queries.ts";
import { currentMonth, formatMonth, shiftMonth } from "../components/month.ts";
import { useLanguage } from "../language/language.tsx";
import { VendorChoice } from "./choices.tsx";
import { useMe } from "./me.ts";

interface MonthVendorChoiceProps {
  month: string;
  vendor: string;
  onChange: (month: string, vendor: string) => void;
}

export function MonthVendorChoice({ month, vendor, onChange }: MonthVendorChoiceProps) {
  return (
    <SpaceBetween direction="horizontal" size="s">
      <VendorChoice value={vendor} onChange={(chosen) => onChange(month, chosen)} />
      <MonthChoice month={month} onChange={(chosen) => onChange(chosen, vendor)} />
    </SpaceBetween>
  );
}

export function MonthChoice({
  month,
  onChange,
}: {
  month: string;
  onChange: (month: string) => void;
}) {
  const { t } = useLingui();
  const { language } = useLanguage();
  const restricted = (useMe().data?.billing_groups ?? null) !== null;
  const months = useApi(
    "/m/core/months",
    { query: { limit: 100, steps: false } },
    { enabled: !restricted, staleTime: 30_000 },
  );
  // The states of months are shown only to people who see all customers.
  const listed = restricted ? listCalendarMonths() : (months.data ?? []).map((each) => each.month);
  const known = [...new Set([month, ...listed])];
  const options = known
    .sort()
    .reverse()
    .map((value) => ({ value, label: formatMonth(value, language) }));
  return (
    <Select
      ariaLabel={t`Month`}
      selectedOption={options.find((option) => option.value === month) ?? null}
      options={options}
      onChange={({ detail }) => onChange(detail.selectedOption.value ?? month)}
    />
  );
}

function listCalendarMonths(): string[] {
  return Array.from({ length: 24 }, (_, index) => shiftMonth(currentMonth(), -index));
}
