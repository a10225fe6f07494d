// What a customer was invoiced in the last twelve months, what it cost and what was left.
import BarChart from "@cloudscape-design/components/bar-chart";
import Box from "@cloudscape-design/components/box";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import { useApi } from "../../../api/queries.ts";
import type { components } from "../../../api/schema.ts";
import { formatAmount, formatCurrency, toChartValue } from "../../../components/amount-format.ts";
import { formatMonth } from "../../../components/month.ts";
import { QueryState } from "../../../components/query-state.tsx";
import { RouterLink } from "../../../components/router-link.tsx";
import { formatVendor } from "../../../components/vendor.ts";
import { useLanguage } from "../../../language/language.tsx";
import { useMay } from "../../me.ts";
import { HistoryTable } from "./history-table.tsx";

export type CustomerMonth = components["schemas"]["CustomerMonth"];

export function CustomerHistory({ company }: { company: string }) {
  const may = useMay();
  const readable = may("ReadInvoice", "ModifyInvoice");
  const history = useApi(
    "/m/core/billinggroup/{company_id}/history",
    { path: { company_id: company }, query: { months: 12 } },
    { enabled: readable },
  );
  if (!readable) return null;
  return (
    <QueryState query={history}>
      {({ months }) =>
        months.length === 0 ? <NoHistory /> : <History company={company} months={months} />
      }
    </QueryState>
  );
}

function NoHistory() {
  return (
    <Container header={<HistoryHeader />}>
      <SpaceBetween size="xs">
        <Box color="text-body-secondary">
          <Trans>This customer has no invoice yet.</Trans>
        </Box>
        <RouterLink to="/months">
          <Trans>Go to the months</Trans>
        </RouterLink>
      </SpaceBetween>
    </Container>
  );
}

function HistoryHeader() {
  const { t } = useLingui();
  return (
    <Header
      variant="h2"
      description={t`Amounts before tax. The margin is what remains after the vendor's cost.`}
    >
      <Trans>Twelve months</Trans>
    </Header>
  );
}

function History({ company, months }: { company: string; months: CustomerMonth[] }) {
  const series = [...new Set(months.map((each) => `${each.vendor} ${each.currency}`))];
  return (
    <SpaceBetween size="l">
      {series.map((name) => {
        const [vendor = "", currency = ""] = name.split(" ");
        const shown = months.filter((each) => each.vendor === vendor && each.currency === currency);
        return (
          <Container
            key={name}
            header={
              series.length === 1 ? (
                <HistoryHeader />
              ) : (
                <SeriesHeader vendor={vendor} currency={currency} />
              )
            }
          >
            <HistoryChart months={shown} currency={currency} vendor={vendor} />
          </Container>
        );
      })}
      <HistoryTable company={company} months={months} />
    </SpaceBetween>
  );
}

function SeriesHeader({ vendor, currency }: { vendor: string; currency: string }) {
  const { t } = useLingui();
  return (
    <Header
      variant="h2"
      description={t`Amounts before tax. The margin is what remains after the vendor's cost.`}
    >
      {t`Twelve months of ${formatVendor(vendor)} in ${formatCurrency(currency)}`}
    </Header>
  );
}

interface HistoryChartProps {
  months: CustomerMonth[];
  currency: string;
  vendor: string;
}

function HistoryChart({ months, currency, vendor }: HistoryChartProps) {
  const { t } = useLingui();
  const { language } = useLanguage();
  const sorted = [...months].sort((a, b) => a.month.localeCompare(b.month));
  const money = (value: number) => formatAmount(String(value), currency, language);
  const bar = (title: string, value: (month: CustomerMonth) => CustomerMonth["margin"]) => ({
    title,
    type: "bar" as const,
    valueFormatter: money,
    data: sorted.map((each) => ({ x: each.month, y: toChartValue(value(each)) })),
  });
  return (
    <BarChart
      height={220}
      hideFilter
      xDomain={sorted.map((each) => each.month)}
      xScaleType="categorical"
      xTitle={t`Month`}
      yTitle={formatCurrency(currency)}
      ariaLabel={t`Invoiced, vendor cost and margin of ${formatVendor(vendor)} by month`}
      series={[
        bar(t`Invoiced`, (each) => each.pre_tax),
        bar(t`Vendor's costs`, (each) => each.vendor_cost),
        bar(t`Margin`, (each) => each.margin),
      ]}
      i18nStrings={{
        xTickFormatter: (month) => formatMonth(String(month), language),
        yTickFormatter: (value) => money(Number(value)),
      }}
    />
  );
}
