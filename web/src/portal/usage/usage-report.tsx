// A usage report: period, chart, and a table with one column for each month.
import ContentLayout from "@cloudscape-design/components/content-layout";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useLingui } from "@lingui/react/macro";
import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { ApiError } from "../../api/client.ts";
import type { components } from "../../api/schema.ts";
import { Amount } from "../../components/amount.tsx";
import { formatCurrency } from "../../components/amount-format.ts";
import { formatMonth } from "../../components/month.ts";
import { PageTitle } from "../../components/page-title.tsx";
import type { Column } from "../../components/server-table.tsx";
import { formatVendor } from "../../components/vendor.ts";
import { useLanguage } from "../../language/language.tsx";
import { BrowserTable } from "../browser-table.tsx";
import { PriceNotes } from "../price-notes.tsx";
import { Totals } from "../totals.tsx";
import { type Period, PeriodChoice } from "./period.tsx";
import { ReportActions, type ReportBy } from "./report-actions.tsx";
import { type ChartSeries, UsageChart } from "./usage-chart.tsx";
import { type ComparedRow, compareMonths, type UsageRow } from "./usage-rows.ts";

interface ReportParts {
  totals: components["schemas"]["UsageTotal"][];
  months: components["schemas"]["UsageMonth"][];
  unpriced: components["schemas"]["UnpricedUsage"][];
}

interface GraphParts {
  interval: "month" | "day";
  points: string[];
}

interface UsageReportProps<R extends ReportParts, G extends GraphParts> {
  title: string;
  by: ReportBy;
  /** The parameters that the CSV file needs besides the period. */
  parameters?: Record<string, string>;
  /** The header of the column that names the account, group or tag. */
  nameHeader: string;
  period: Period;
  report: UseQueryResult<R, ApiError>;
  readRows: (report: R) => UsageRow[];
  /** Absent if the reseller does not show it. */
  graph: UseQueryResult<G, ApiError> | undefined;
  readSeries: (graph: G) => ChartSeries[];
  nameCell?: (row: ComparedRow) => ReactNode;
  choices?: ReactNode;
  /** What to do first, while the report lacks a choice. */
  missing?: string | undefined;
}

export function UsageReport<R extends ReportParts, G extends GraphParts>(
  props: UsageReportProps<R, G>,
) {
  const { t } = useLingui();
  const { period, report, title } = props;
  const graph = props.graph?.data;
  const { data } = report;
  const provisional = new Set(data?.months.filter((it) => it.provisional).map((it) => it.month));
  const columns = useColumns(props, provisional);
  return (
    <ContentLayout
      header={
        <Header
          variant="h1"
          actions={
            <ReportActions by={props.by} period={period} parameters={props.parameters ?? {}} />
          }
        >
          {title}
        </Header>
      }
    >
      <PageTitle title={title} />
      <SpaceBetween size="l">
        <SpaceBetween direction="horizontal" size="s">
          {props.choices}
          <PeriodChoice period={period} />
        </SpaceBetween>
        {data !== undefined && <PriceNotes months={data.months} unpriced={data.unpriced} />}
        {graph !== undefined && (
          <UsageChart
            interval={graph.interval}
            points={graph.points}
            series={props.readSeries(graph)}
          />
        )}
        <BrowserTable<ComparedRow>
          id={`usage-${props.by}`}
          title={t`Details`}
          embedded
          order={`-${period.month}`}
          columns={columns}
          rows={data && compareMonths(props.readRows(data))}
          query={report}
          rowId={(row) => row.key}
          searchLabel={t`Name or service`}
          empty={props.missing ?? t`There is no usage in this period.`}
          footer={(found) => <Totals rows={found} months={[...period.months].reverse()} />}
        />
      </SpaceBetween>
    </ContentLayout>
  );
}

function useColumns<R extends ReportParts, G extends GraphParts>(
  { by, nameHeader, nameCell, period }: UsageReportProps<R, G>,
  provisional: ReadonlySet<string>,
): Column<ComparedRow>[] {
  const { t } = useLingui();
  const { language } = useLanguage();
  const marketplace = (row: ComparedRow) =>
    row.marketplace ? t`${row.service} (Marketplace)` : row.service;
  return [
    {
      id: "name",
      header: nameHeader,
      sort: "name",
      width: 220,
      alwaysVisible: true,
      cell: nameCell ?? ((row) => row.name),
      csv: (row) => (by === "account" ? `${row.name} ${row.id}` : row.name),
    },
    {
      id: "service",
      header: t`Service`,
      sort: "service",
      width: 200,
      cell: marketplace,
      csv: marketplace,
    },
    {
      id: "vendor",
      header: t`Vendor`,
      sort: "vendor",
      width: 125,
      cell: (row) => formatVendor(row.vendor),
      csv: (row) => formatVendor(row.vendor),
    },
    ...[...period.months].reverse().map((month) => {
      const name = formatMonth(month, language);
      return {
        id: month,
        header: provisional.has(month) ? t`${name} (provisional)` : name,
        sort: month,
        numeric: true,
        width: 185,
        alwaysVisible: true,
        cell: (row: ComparedRow) => <Amount value={row.amounts[month]} currency={row.currency} />,
        csv: (row: ComparedRow) => String(row.amounts[month] ?? ""),
      };
    }),
    {
      id: "currency",
      header: t`Currency`,
      width: 100,
      cell: (row) => formatCurrency(row.currency),
      csv: (row) => formatCurrency(row.currency),
    },
  ];
}
