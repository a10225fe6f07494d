// The first page: months, forecast, largest costs, budgets and unusual costs in short.
import BarChart from "@cloudscape-design/components/bar-chart";
import Box from "@cloudscape-design/components/box";
import ColumnLayout from "@cloudscape-design/components/column-layout";
import Container from "@cloudscape-design/components/container";
import ContentLayout from "@cloudscape-design/components/content-layout";
import Header from "@cloudscape-design/components/header";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import { useApi } from "../../api/queries.ts";
import type { components } from "../../api/schema.ts";
import { Amount } from "../../components/amount.tsx";
import {
  formatAmount,
  formatCurrency,
  isZero,
  toChartValue,
} from "../../components/amount-format.ts";
import { currentMonth, formatMonth, shiftMonth } from "../../components/month.ts";
import { PageTitle } from "../../components/page-title.tsx";
import { QueryState } from "../../components/query-state.tsx";
import { RouterLink } from "../../components/router-link.tsx";
import { useLanguage } from "../../language/language.tsx";
import { AmountList } from "../amount-list.tsx";
import { BudgetBar } from "../budget-bar.tsx";
import { PriceNotes } from "../price-notes.tsx";

type Dashboard = components["schemas"]["Dashboard"];

export default function DashboardPage() {
  const { t } = useLingui();
  const dashboard = useApi("/m/portal/dashboard");
  return (
    <ContentLayout header={<Header variant="h1">{t`Dashboard`}</Header>}>
      <PageTitle title={t`Dashboard`} />
      <QueryState query={dashboard}>
        {(data) => (
          <SpaceBetween size="l">
            <Figures data={data} />
            <MonthsChart data={data} />
            <ColumnLayout columns={2} minColumnWidth={300}>
              <TopAccounts data={data} />
              <TopServices data={data} />
            </ColumnLayout>
            {data.budgets !== null && data.budgets.length > 0 && (
              <Container
                header={
                  <Header variant="h2">
                    <RouterLink to="/budgets" fontSize="heading-m">
                      <Trans>Budgets</Trans>
                    </RouterLink>
                  </Header>
                }
              >
                <SpaceBetween size="m">
                  {data.budgets.map((budget) => (
                    <BudgetBar key={budget.budget_id} budget={budget} />
                  ))}
                </SpaceBetween>
              </Container>
            )}
            <PriceNotes months={data.months} unpriced={data.unpriced} />
          </SpaceBetween>
        )}
      </QueryState>
    </ContentLayout>
  );
}

function Figures({ data }: { data: Dashboard }) {
  const { t } = useLingui();
  const { language } = useLanguage();
  const isEmpty = data.month_to_date.every(({ amount }) => isZero(amount));
  const isLate = isEmpty && data.totals.length > 0 && data.top_month !== currentMonth();
  const latest = useLatestMonths(data);
  const thisMonth = useMonthToDate(data);
  const items = [
    ...(isLate ? latest : thisMonth),
    ...data.forecasts.map(({ forecast, error_percent, ...each }) => {
      const currency = formatCurrency(each.currency);
      return {
        label: t`Forecast of this month (${currency})`,
        value: (
          <>
            <Amount value={forecast} currency={currency} strong />
            {error_percent !== null && (
              <Box variant="small" display="block">
                <Trans>Mean error of earlier forecasts: {String(error_percent)}%</Trans>
              </Box>
            )}
          </>
        ),
      };
    }),
  ];
  if (data.anomalies !== null)
    items.push({
      label: t`Unusual costs`,
      value: (
        <RouterLink to={`/anomalies?month=${data.top_month}`}>
          <Trans>{data.anomalies} found</Trans>
        </RouterLink>
      ),
    });
  const month = formatMonth(currentMonth(), language);
  return (
    <Container footer={isLate && <Trans>The costs of {month} have not arrived yet.</Trans>}>
      <KeyValuePairs columns={4} items={items} />
    </Container>
  );
}

function useMonthToDate(data: Dashboard) {
  const { t } = useLingui();
  return data.month_to_date.flatMap(({ amount, previous_amount, ...each }) => {
    const currency = formatCurrency(each.currency);
    return [
      {
        label: t`This month so far (${currency})`,
        value: <Amount value={amount} currency={currency} strong />,
      },
      {
        label: t`The same days of last month (${currency})`,
        value: <Amount value={previous_amount} currency={currency} />,
      },
    ];
  });
}

/** The newest month with costs and the one before it. */
function useLatestMonths({ top_month, totals }: Dashboard) {
  const { t } = useLingui();
  const { language } = useLanguage();
  return [top_month, shiftMonth(top_month, -1)].flatMap((month) =>
    totals
      .filter((total) => total.month === month)
      .map(({ amount, ...each }) => {
        const currency = formatCurrency(each.currency);
        return {
          label: t`${formatMonth(month, language)} (${currency})`,
          value: <Amount value={amount} currency={currency} strong={month === top_month} />,
        };
      }),
  );
}

function MonthsChart({ data }: { data: Dashboard }) {
  const { t } = useLingui();
  const { language } = useLanguage();
  const months = [...new Set(data.totals.map((total) => total.month))].sort();
  const labels = months.map((month) => formatMonth(month, language));
  const totals = data.totals.map((total) => ({
    ...total,
    currency: formatCurrency(total.currency),
  }));
  const currencies = [...new Set(totals.map((total) => total.currency))];
  return (
    <Container header={<Header variant="h2">{t`Costs by month`}</Header>}>
      {currencies.length === 0 && <NoUsage />}
      {currencies.map((currency) => (
        <BarChart
          key={currency}
          height={220}
          hideFilter
          hideLegend
          series={[
            {
              type: "bar",
              title: currency,
              valueFormatter: (value) => formatAmount(value, currency, language),
              data: totals
                .filter((total) => total.currency === currency)
                .map(({ month, amount }) => ({
                  x: formatMonth(month, language),
                  y: toChartValue(amount),
                })),
            },
          ]}
          xScaleType="categorical"
          xDomain={labels}
          xTitle={t`Month`}
          yTitle={t`Amount (${currency})`}
          ariaLabel={t`Costs by month (${currency})`}
          i18nStrings={{ yTickFormatter: (value) => formatAmount(value, currency, language) }}
          empty={<NoUsage />}
        />
      ))}
    </Container>
  );
}

function NoUsage() {
  return (
    <Box color="text-body-secondary">
      <Trans>There is no usage in this period.</Trans>
    </Box>
  );
}

function TopAccounts({ data }: { data: Dashboard }) {
  const { t } = useLingui();
  const { language } = useLanguage();
  const month = formatMonth(data.top_month, language);
  return (
    <Container header={<Header variant="h2">{t`Largest accounts in ${month}`}</Header>}>
      {data.top_accounts.length === 0 && <NoUsage />}
      <AmountList
        rows={data.top_accounts.map((account) => ({
          ...account,
          name: account.customer_name,
          detail: account.customer_id,
        }))}
      />
    </Container>
  );
}

function TopServices({ data }: { data: Dashboard }) {
  const { t } = useLingui();
  const { language } = useLanguage();
  const month = formatMonth(data.top_month, language);
  return (
    <Container header={<Header variant="h2">{t`Largest services in ${month}`}</Header>}>
      {data.top_services.length === 0 && <NoUsage />}
      <AmountList
        rows={data.top_services.map(({ service, marketplace, ...each }) => ({
          ...each,
          name: marketplace ? t`${service} (Marketplace)` : service,
        }))}
      />
    </Container>
  );
}
