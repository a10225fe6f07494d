// The costs of a service day by day, beside those of the month before.
import BarChart from "@cloudscape-design/components/bar-chart";
import { useLingui } from "@lingui/react/macro";
import type { components } from "../../../api/schema.ts";
import { formatAmount, formatCurrency, toChartValue } from "../../../components/amount-format.ts";
import { formatMonth } from "../../../components/month.ts";
import { useLanguage } from "../../../language/language.tsx";

export type ExplainedAmount = components["schemas"]["ExplainedAmount"];

interface DaysChartProps {
  month: string;
  amount: ExplainedAmount | undefined;
  monthBefore: string;
  amountBefore: ExplainedAmount | undefined;
}

export function DaysChart({ month, amount, monthBefore, amountBefore }: DaysChartProps) {
  const { t } = useLingui();
  const { language } = useLanguage();
  const shown = [
    { month: monthBefore, amount: amountBefore },
    { month, amount },
  ].filter((each) => each.amount?.by_day);
  const code = (amount ?? amountBefore)?.base_currency;
  if (shown.length === 0 || !code) return null;
  const currency = formatCurrency(code);
  const days = Array.from({ length: 31 }, (_, index) => String(index + 1));
  const format = (value: number) => formatAmount(value, currency, language);
  return (
    <BarChart
      height={180}
      hideFilter
      xScaleType="categorical"
      xDomain={days}
      xTitle={t`Day`}
      yTitle={t`Vendor's costs (${currency})`}
      ariaLabel={t`Costs by day`}
      i18nStrings={{ yTickFormatter: format }}
      series={shown.map((each) => ({
        type: "bar",
        title: formatMonth(each.month, language),
        data: sumDays(each.amount),
        valueFormatter: format,
      }))}
    />
  );
}

/** Approximate, for drawing only: several accounts can have costs on one day. */
function sumDays(amount: ExplainedAmount | undefined): { x: string; y: number }[] {
  const sums = new Map<string, number>();
  for (const part of amount?.parts ?? []) {
    if (part.day === null) continue;
    const day = String(Number(part.day.slice(8)));
    sums.set(day, (sums.get(day) ?? 0) + toChartValue(part.amount));
  }
  return [...sums].map(([x, y]) => ({ x, y }));
}
