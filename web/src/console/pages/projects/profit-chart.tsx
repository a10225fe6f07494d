// The profit of each project over six months, in dollars so that projects can be compared.
import BarChart from "@cloudscape-design/components/bar-chart";
import Box from "@cloudscape-design/components/box";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import { Trans, useLingui } from "@lingui/react/macro";
import { useQueries } from "@tanstack/react-query";
import { useClient } from "../../../api/queries.ts";
import { formatAmount, toChartValue } from "../../../components/amount-format.ts";
import { formatMonth, shiftMonth } from "../../../components/month.ts";
import { useLanguage } from "../../../language/language.tsx";
import { readFigures } from "./project-figures.ts";

const PATH = "/m/core/project/{project_id_or_month}";
const MONTHS = 6;
const CURRENCY = "USD";

export function ProfitChart({ month, vendor }: { month: string; vendor: string }) {
  const { t } = useLingui();
  const { language } = useLanguage();
  const client = useClient();
  const months = Array.from({ length: MONTHS }, (_, index) =>
    shiftMonth(month, index - MONTHS + 1),
  );
  const loaded = useQueries({
    queries: months.map((each) => ({
      queryKey: [PATH, { project_id_or_month: each }, {}],
      queryFn: () => client.get(PATH, { path: { project_id_or_month: each } }),
    })),
  });
  const names = new Map<string, string>();
  for (const { data } of loaded)
    for (const row of data ?? []) names.set(row.project_id, row.project_label);
  const failed = loaded.find((each) => each.error !== null);
  const format = (value: number) => formatAmount(value, CURRENCY, language);
  const labels = months.map((each) => formatMonth(each, language));
  const series = [...names].map(([id, title]) => ({
    type: "bar" as const,
    title,
    valueFormatter: format,
    data: loaded.flatMap(({ data }, index) => {
      const project = data?.find((row) => row.project_id === id);
      const figures = project && readFigures(project, vendor);
      return figures ? [{ x: labels[index] ?? "", y: toChartValue(figures.profit) }] : [];
    }),
  }));
  return (
    <Container
      header={
        <Header variant="h2" description={t`In dollars, so that all projects can be compared.`}>
          <Trans>Profit over six months</Trans>
        </Header>
      }
    >
      <BarChart
        height={260}
        series={series}
        hideFilter
        xScaleType="categorical"
        xDomain={labels}
        xTitle={t`Month`}
        yTitle={t`Profit (${CURRENCY})`}
        ariaLabel={t`Profit of each project over six months`}
        i18nStrings={{ yTickFormatter: format }}
        statusType={
          failed ? "error" : loaded.some((each) => each.isLoading) ? "loading" : "finished"
        }
        loadingText={t`Loading`}
        errorText={t`This could not be loaded.`}
        recoveryText={t`Try again`}
        onRecoveryClick={() => {
          for (const each of loaded) if (each.error !== null) each.refetch();
        }}
        empty={
          <Box textAlign="center">
            <Trans>No projects</Trans>
          </Box>
        }
      />
    </Container>
  );
}
