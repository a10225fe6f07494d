// The exchange rates that are saved for a month, as people write them.
import { plural } from "@lingui/core/macro";
import { useLingui } from "@lingui/react/macro";
import type { components } from "../../../api/schema.ts";
import { formatNumber } from "../../../components/amount-format.ts";
import { useLanguage } from "../../../language/language.tsx";

type MonthRate = components["schemas"]["MonthRate"];

const SHOWN = 3;

/** Says the rate, or that billing groups have different ones; nothing without a rate. */
export function useRateText(): (rates: readonly MonthRate[]) => string {
  const { t } = useLingui();
  const { language } = useLanguage();
  return (rates) => {
    const write = ({ exchange_rate }: MonthRate) => {
      const rate = formatNumber(exchange_rate, language);
      return t`1 USD = ${rate} JPY`;
    };
    const [first] = rates;
    if (first === undefined) return "";
    if (rates.length === 1) return write(first);
    const listed = rates.slice(0, SHOWN).map((each) => {
      const rate = write(each);
      return t`${rate} (${plural(each.groups, { one: "# billing group", other: "# billing groups" })})`;
    });
    const all = new Intl.ListFormat(language, { type: "unit" }).format([
      ...listed,
      ...(rates.length > SHOWN ? ["…"] : []),
    ]);
    return t`Billing groups have different rates: ${all}`;
  };
}
