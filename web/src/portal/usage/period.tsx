// The month of a usage report and how many earlier months it is compared with, kept in the address.
import FormField from "@cloudscape-design/components/form-field";
import Select from "@cloudscape-design/components/select";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useLingui } from "@lingui/react/macro";
import { useSearchParams } from "react-router";
import { shiftMonth } from "../../components/month.ts";
import { useNewestMonth } from "../me.ts";
import { MonthSelect } from "../month-select.tsx";

const COUNTS = [0, 1, 2, 5, 11];

export interface Period {
  month: string;
  /** All months, the earliest first. */
  months: string[];
  query: { from: string; to: string };
  change: (values: Record<string, string>) => void;
}

export function usePeriod(): Period {
  const [params, setParams] = useSearchParams();
  const newest = useNewestMonth();
  const written = params.get("month") ?? "";
  const month = /^\d{4}-(0[1-9]|1[0-2])$/.test(written) ? written : newest;
  const count = Number(params.get("earlier") ?? 1);
  const earlier = COUNTS.includes(count) ? count : 1;
  const from = shiftMonth(month, -earlier);
  return {
    month,
    months: Array.from({ length: earlier + 1 }, (_, index) => shiftMonth(from, index)),
    query: { from, to: month },
    change: (values) =>
      setParams(
        (current) => {
          const next = new URLSearchParams(current);
          // Columns of the table are months, so its order may no longer exist.
          next.delete("sort");
          next.delete("page");
          for (const [name, value] of Object.entries(values)) next.set(name, value);
          return next;
        },
        { replace: true },
      ),
  };
}

export function PeriodChoice({ period }: { period: Period }) {
  const { t } = useLingui();
  const options = COUNTS.map((count) => {
    const months = count + 1;
    return {
      value: String(count),
      label: count === 0 ? t`This month only` : t`Last ${months} months`,
    };
  });
  const chosen = String(period.months.length - 1);
  return (
    <SpaceBetween direction="horizontal" size="s">
      <MonthSelect month={period.month} onChange={(month) => period.change({ month })} />
      <FormField label={t`Period`}>
        <Select
          selectedOption={options.find((option) => option.value === chosen) ?? null}
          options={options}
          expandToViewport
          onChange={({ detail }) => period.change({ earlier: detail.selectedOption.value ?? "1" })}
        />
      </FormField>
    </SpaceBetween>
  );
}
