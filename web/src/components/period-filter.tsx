// Chooses the first and the last day of a list, kept in the address as `from` and `to`.
import DateRangePicker from "@cloudscape-design/components/date-range-picker";
import { useLingui } from "@lingui/react/macro";
import type { ListControl } from "./list-state.ts";

export function PeriodFilter({ control }: { control: ListControl }) {
  const { t } = useLingui();
  const [from, to] = [control.filter("from"), control.filter("to")];
  return (
    <DateRangePicker
      placeholder={t`Any time`}
      ariaLabel={t`Period of time`}
      dateOnly
      expandToViewport
      rangeSelectorMode="absolute-only"
      relativeOptions={[]}
      isValidRange={(range) =>
        range?.type === "absolute" && range.startDate !== "" && range.endDate !== ""
          ? { valid: true }
          : { valid: false, errorMessage: t`Choose the first and the last day.` }
      }
      value={from === "" ? null : { type: "absolute", startDate: from, endDate: to }}
      onChange={({ detail }) =>
        control.setFilters(
          detail.value?.type === "absolute"
            ? { from: detail.value.startDate, to: detail.value.endDate }
            : { from: "", to: "" },
        )
      }
    />
  );
}
