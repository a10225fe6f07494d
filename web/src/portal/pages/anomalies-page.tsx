// Days on which a service cost far more or less than usual.
import ContentLayout from "@cloudscape-design/components/content-layout";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useLingui } from "@lingui/react/macro";
import { useApi } from "../../api/queries.ts";
import type { components } from "../../api/schema.ts";
import { Amount } from "../../components/amount.tsx";
import { isNegative } from "../../components/amount-format.ts";
import { useListState } from "../../components/list-state.ts";
import { formatDate } from "../../components/month.ts";
import { PageTitle } from "../../components/page-title.tsx";
import type { Column } from "../../components/server-table.tsx";
import { useLanguage } from "../../language/language.tsx";
import { BrowserTable } from "../browser-table.tsx";
import { useNewestMonth } from "../me.ts";
import { MonthSelect } from "../month-select.tsx";
import { PriceNotes } from "../price-notes.tsx";

type Anomaly = components["schemas"]["Anomaly"];

export default function AnomaliesPage() {
  const { t } = useLingui();
  const control = useListState();
  const newest = useNewestMonth();
  const month = control.filter("month") || newest;
  const anomalies = useApi("/m/portal/anomalies", { query: { month } });
  const title = t`Unusual costs`;
  return (
    <ContentLayout
      header={
        <Header
          variant="h1"
          description={t`Days on which a service cost far more or less than on the 30 days before.`}
        >
          {title}
        </Header>
      }
    >
      <PageTitle title={title} />
      <SpaceBetween size="l">
        <MonthSelect month={month} onChange={(chosen) => control.setFilter("month", chosen)} />
        {anomalies.data !== undefined && <PriceNotes unpriced={anomalies.data.unpriced} />}
        <BrowserTable<Anomaly>
          id="portal-anomalies"
          title={t`Days`}
          embedded
          order="-day"
          columns={useColumns()}
          rows={anomalies.data?.anomalies}
          query={anomalies}
          rowId={(anomaly) => JSON.stringify(anomaly)}
          searchLabel={t`Account or service`}
          empty={t`Nothing unusual in this month.`}
        />
      </SpaceBetween>
    </ContentLayout>
  );
}

function useColumns(): Column<Anomaly>[] {
  const { t } = useLingui();
  const { language } = useLanguage();
  const account = (anomaly: Anomaly) => `${anomaly.customer_name} ${anomaly.customer_id}`;
  const direction = ({ score }: Anomaly) =>
    isNegative(score) ? t`Less than usual` : t`More than usual`;
  const cause = (anomaly: Anomaly) =>
    anomaly.cause === "price" ? t`Your price or exchange rate changed` : t`The usage changed`;
  return [
    {
      id: "day",
      header: t`Day`,
      sort: "day",
      width: 120,
      alwaysVisible: true,
      cell: (anomaly) => formatDate(anomaly.day, language),
      csv: (anomaly) => anomaly.day,
    },
    {
      id: "direction",
      header: t`What happened`,
      sort: "direction",
      width: 150,
      cell: direction,
      csv: direction,
    },
    {
      id: "service",
      header: t`Service`,
      sort: "service",
      width: 150,
      cell: (anomaly) => anomaly.service,
      csv: (anomaly) => anomaly.service,
    },
    { id: "account", header: t`Account`, sort: "account", width: 165, cell: account, csv: account },
    {
      id: "value",
      header: t`Cost of the day`,
      sort: "value",
      numeric: true,
      width: 135,
      cell: (anomaly) => <Amount value={anomaly.value} currency={anomaly.currency} strong />,
      csv: (anomaly) => String(anomaly.value),
    },
    {
      id: "median",
      header: t`Usual cost`,
      sort: "median",
      numeric: true,
      width: 135,
      cell: (anomaly) => <Amount value={anomaly.median} currency={anomaly.currency} />,
      csv: (anomaly) => String(anomaly.median),
    },
    { id: "cause", header: t`Cause`, sort: "cause", width: 170, cell: cause, csv: cause },
  ];
}
