// Usage over time as stacked bars, one chart for each currency.
import BarChart from "@cloudscape-design/components/bar-chart";
import Box from "@cloudscape-design/components/box";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import { Trans, useLingui } from "@lingui/react/macro";
import type { Decimal } from "../../api/exact-json.ts";
import { formatAmount, formatCurrency, toChartValue } from "../../components/amount-format.ts";
import { formatMonth } from "../../components/month.ts";
import { useLanguage } from "../../language/language.tsx";

export interface ChartSeries {
  title: string;
  currency: string;
  amounts: readonly Decimal[];
}

interface UsageChartProps {
  interval: "month" | "day";
  points: readonly string[];
  series: readonly ChartSeries[];
}

export function UsageChart({ interval, points, ...props }: UsageChartProps) {
  const { t } = useLingui();
  const { language } = useLanguage();
  const labels = points.map((point) =>
    interval === "month" ? formatMonth(point, language) : String(Number(point.slice(-2))),
  );
  const series = props.series.map((each) => ({
    ...each,
    currency: formatCurrency(each.currency),
  }));
  const currencies = [...new Set(series.map((each) => each.currency))];
  const title = interval === "month" ? t`By month` : t`By day`;
  return (
    <Container header={<Header variant="h2">{title}</Header>}>
      {currencies.length === 0 && (
        <Box color="text-body-secondary">
          <Trans>There is no usage in this period.</Trans>
        </Box>
      )}
      {currencies.map((currency) => (
        <BarChart
          key={currency}
          height={240}
          stackedBars
          hideFilter
          series={makeTitlesUnique(series.filter((each) => each.currency === currency)).map(
            (each) => ({
              type: "bar" as const,
              title: each.title,
              valueFormatter: (value: number) => formatAmount(value, currency, language),
              data: each.amounts.map((amount, index) => ({
                x: labels[index] ?? "",
                y: toChartValue(amount),
              })),
            }),
          )}
          xScaleType="categorical"
          xDomain={labels}
          xTitle={interval === "month" ? t`Month` : t`Day`}
          yTitle={t`Amount (${currency})`}
          ariaLabel={`${title} (${currency})`}
          i18nStrings={{ yTickFormatter: (value) => formatAmount(value, currency, language) }}
          empty={<Trans>There is no usage in this period.</Trans>}
        />
      ))}
    </Container>
  );
}

/** The chart tells its series apart by their titles. */
function makeTitlesUnique(series: readonly ChartSeries[]): ChartSeries[] {
  const counts = new Map<string, number>();
  return series.map((each) => {
    const count = (counts.get(each.title) ?? 0) + 1;
    counts.set(each.title, count);
    return count === 1 ? each : { ...each, title: `${each.title} (${count})` };
  });
}
