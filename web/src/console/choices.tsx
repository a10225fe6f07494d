// Controls that several pages share: the vendor and the month of what is shown.
import SegmentedControl from "@cloudscape-design/components/segmented-control";
import Select from "@cloudscape-design/components/select";
import { useLingui } from "@lingui/react/macro";
import { useApi } from "../api/queries.ts";
import { currentMonth, formatMonth, shiftMonth } from "../components/month.ts";
import { formatVendor } from "../components/vendor.ts";
import { useLanguage } from "../language/language.tsx";
import { useMe } from "./me.ts";

interface ChoiceProps {
  value: string;
  onChange: (value: string) => void;
}

/** The vendors that the organisation bills. */
export function useVendors(): string[] {
  return useMe().data?.vendors ?? [];
}

/** `all` adds the choice of every vendor, with an empty value. */
export function VendorChoice({ value, onChange, all = false }: ChoiceProps & { all?: boolean }) {
  const { t } = useLingui();
  const vendors = useVendors();
  const options = vendors.map((id) => ({ id, text: formatVendor(id) }));
  return (
    <SegmentedControl
      label={t`Vendor`}
      selectedId={value === "" ? "all" : value}
      options={all ? [{ id: "all", text: t`All vendors` }, ...options] : options}
      onChange={({ detail }) => onChange(detail.selectedId === "all" ? "" : detail.selectedId)}
    />
  );
}

const MONTHS_RESTRICTED = 24;

/**
 * The months that have costs, the newest first. The states of months are shown only to people who see all customers;
 * the others choose from the calendar.
 */
export function useKnownMonths(): string[] {
  const restricted = (useMe().data?.billing_groups ?? null) !== null;
  const months = useApi(
    "/m/core/months",
    { query: { limit: 100, steps: false } },
    { staleTime: 30_000, enabled: !restricted },
  );
  if (restricted)
    return Array.from({ length: MONTHS_RESTRICTED }, (_, index) =>
      shiftMonth(currentMonth(), -index),
    );
  const known = new Set((months.data ?? []).map((each) => each.month));
  return [...known].sort().reverse();
}

/** `all` adds the choice of every month, with an empty value. */
export function MonthSelect({ value, onChange, all = false }: ChoiceProps & { all?: boolean }) {
  const { t } = useLingui();
  const { language } = useLanguage();
  const known = useKnownMonths();
  const months = [...new Set(value === "" ? known : [value, ...known])].sort().reverse();
  const options = months.map((month) => ({ value: month, label: formatMonth(month, language) }));
  if (all) options.unshift({ value: "", label: t`All months` });
  return (
    <Select
      ariaLabel={t`Month`}
      selectedOption={options.find((option) => option.value === value) ?? null}
      options={options}
      onChange={({ detail }) => onChange(detail.selectedOption.value ?? "")}
      expandToViewport
    />
  );
}
