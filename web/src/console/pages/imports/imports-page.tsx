// The imports: what arrived, in which state, and what was odd about it.
import Box from "@cloudscape-design/components/box";
import Header from "@cloudscape-design/components/header";
import Select from "@cloudscape-design/components/select";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import { useApiPage } from "../../../api/queries.ts";
import { formatNumber } from "../../../components/amount-format.ts";
import { type ListControl, useListState } from "../../../components/list-state.ts";
import { formatMonth, formatTime } from "../../../components/month.ts";
import { PageTitle } from "../../../components/page-title.tsx";
import { RouterLink } from "../../../components/router-link.tsx";
import { type Column, ServerTable, usePageSize } from "../../../components/server-table.tsx";
import { formatVendor } from "../../../components/vendor.ts";
import { useLanguage } from "../../../language/language.tsx";
import { MonthSelect, VendorChoice } from "../../choices.tsx";
import { useMay } from "../../me.ts";
import { type ImportRecord, ImportState, isUnfinished, useStateTexts } from "./import-state.tsx";
import { useOddities } from "./oddities.ts";
import { UploadPanel } from "./upload-panel.tsx";

export default function ImportsPage() {
  const { t } = useLingui();
  const may = useMay();
  const control = useListState("create_time", true);
  const size = usePageSize("imports");
  const { state } = control;
  const imports = useApiPage(
    "/m/core/costs/imports",
    {
      query: {
        limit: size,
        offset: (state.page - 1) * size,
        search: state.search,
        sort: `${state.descending ? "-" : ""}${state.sort}`,
        vendor: control.filter("vendor"),
        month: control.filter("month"),
        state: control.filter("state"),
      },
    },
    // An import goes on while nobody looks; the page shows its state without being reloaded.
    { refetchInterval: (query) => (query.state.data?.data.some(isUnfinished) ? 2_000 : 15_000) },
  );
  return (
    <SpaceBetween size="l">
      <PageTitle title={t`Imports`} />
      <Header
        variant="h1"
        description={t`The vendors' cost files: what arrived, and what was odd about it.`}
      >
        <Trans>Imports</Trans>
      </Header>
      {may("ModifyCost") && (
        <UploadPanel vendor={control.filter("vendor")} month={control.filter("month")} />
      )}
      <ServerTable
        id="imports"
        embedded
        title={t`All imports`}
        columns={useColumns()}
        rows={imports.data?.data}
        total={imports.data?.total}
        readAll={imports.readAll}
        control={control}
        loading={imports.isLoading}
        error={imports.error}
        retry={() => imports.refetch()}
        rowId={(row) => row.import_id}
        searchLabel={t`Search by file or month`}
        filters={<Filters control={control} />}
        narrowing={["state"]}
        empty={<NoImports />}
      />
    </SpaceBetween>
  );
}

function useColumns(): Column<ImportRecord>[] {
  const { t } = useLingui();
  const { language } = useLanguage();
  const texts = useStateTexts();
  const oddities = useOddities();
  const monthOf = (row: ImportRecord) =>
    row.month === null ? "" : formatMonth(row.month, language);
  return [
    {
      id: "create_time",
      header: t`Started`,
      cell: (row) => (
        <RouterLink to={`/imports/${row.import_id}`}>
          {formatTime(row.create_time, language)}
        </RouterLink>
      ),
      csv: (row) => row.create_time,
      sort: "create_time",
      width: 180,
      alwaysVisible: true,
    },
    {
      id: "month",
      header: t`Month`,
      cell: (row) => monthOf(row) || "–",
      csv: (row) => row.month ?? "",
      sort: "month",
      width: 135,
    },
    {
      id: "vendor",
      header: t`Vendor`,
      cell: (row) => formatVendor(row.vendor),
      csv: (row) => row.vendor,
      sort: "vendor",
      width: 120,
    },
    {
      id: "state",
      header: t`State`,
      cell: (row) => <ImportState record={row} />,
      csv: (row) => texts[row.state],
      sort: "state",
      width: 150,
    },
    {
      id: "lines",
      header: t`Lines`,
      cell: (row) => formatNumber(row.lines, language),
      csv: (row) => String(row.lines),
      sort: "lines",
      width: 125,
      numeric: true,
    },
    {
      id: "sources",
      header: t`Files`,
      cell: (row) => row.sources.join(", "),
      csv: (row) => row.sources.join(", "),
      width: 155,
    },
    {
      id: "odd",
      header: t`What was odd`,
      cell: (row) => <Oddities record={row} />,
      csv: (row) => [problemOf(row), ...oddities(row).map(({ text }) => text)].join(" ").trim(),
      width: 175,
    },
  ];
}

function problemOf(record: ImportRecord): string {
  return record.problem?.detail ?? record.parked_reason ?? "";
}

function Oddities({ record }: { record: ImportRecord }) {
  const oddities = useOddities()(record);
  const problem = problemOf(record);
  if (oddities.length === 0 && problem === "")
    return (
      <Box color="text-body-secondary" tagOverride="span">
        <Trans>Nothing</Trans>
      </Box>
    );
  const [first] = oddities;
  const others = oddities.length - 1;
  if (problem !== "" || first === undefined)
    return (
      <RouterLink to={`/imports/${record.import_id}`}>
        <Trans>See the reason</Trans>
      </RouterLink>
    );
  return (
    <>
      <RouterLink to={first.path ?? `/imports/${record.import_id}`}>{first.text}</RouterLink>
      {others > 0 && (
        <>
          {" "}
          <RouterLink to={`/imports/${record.import_id}`}>
            <Trans>{others} more</Trans>
          </RouterLink>
        </>
      )}
    </>
  );
}

function Filters({ control }: { control: ListControl }) {
  const { t } = useLingui();
  const texts = useStateTexts();
  const options = [
    { value: "", label: t`All states` },
    ...Object.entries(texts).map(([value, label]) => ({ value, label })),
  ];
  return (
    <SpaceBetween direction="horizontal" size="xs" alignItems="end">
      <VendorChoice
        all
        value={control.filter("vendor")}
        onChange={(vendor) => control.setFilter("vendor", vendor)}
      />
      <MonthSelect
        all
        value={control.filter("month")}
        onChange={(month) => control.setFilter("month", month)}
      />
      <Select
        ariaLabel={t`State`}
        selectedOption={options.find(({ value }) => value === control.filter("state")) ?? null}
        options={options}
        onChange={({ detail }) => control.setFilter("state", detail.selectedOption.value ?? "")}
        expandToViewport
      />
    </SpaceBetween>
  );
}

function NoImports() {
  return (
    <SpaceBetween size="xs">
      <b>
        <Trans>No imports</Trans>
      </b>
      <Box color="text-body-secondary">
        <Trans>Drop the vendor's cost files above to import them.</Trans>
      </Box>
    </SpaceBetween>
  );
}
