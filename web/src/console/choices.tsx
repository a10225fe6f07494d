// Controls that several pages share: the vendor and the month of what is shown.
import SegmentedControl from "@cloudscape-design/components/segmented-control";
import Select from "@cloudscape-design/components/select";
import { useLingui } from "@lingui/react/macro";
import { useApi } from "../api/queries.ts";
import { formatMonth } from "../components/month.ts";
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

/** The months that have costs, the newest first. */
export function useKnownMonths(): string[] {
  const months = useApi(
    "/m/core/months",
    { query: { limit: 100, steps: false } },
    { staleTime: 30_000 },
  );
  const known = new Set((months.data ?? []).map((each) => each.month));
  return [...known].sort().reverse();
}

/** `all` adds the choice of every month, with an empty value. */
export function MonthSelect({ value, onChange, all = false }: ChoiceProps & { all?: boolean }) {
  const { t } = useLingui();
  const { language } = useLanguage();
  const known = useKnownMonths();
  const months = value === "" || known.includes(value) ? known : [value, ...known];
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
