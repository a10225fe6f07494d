// What looks wrong in a month before its invoices go out.
import Button from "@cloudscape-design/components/button";
import Select from "@cloudscape-design/components/select";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import { keepPreviousData } from "@tanstack/react-query";
import { useNavigate, useParams } from "react-router";
import { useApi, useReadAll } from "../../../api/queries.ts";
import type { components } from "../../../api/schema.ts";
import { formatPercent } from "../../../components/amount-format.ts";
import { type ListControl, useListState } from "../../../components/list-state.ts";
import { formatMonth } from "../../../components/month.ts";
import { PageTitle } from "../../../components/page-title.tsx";
import { RouterLink } from "../../../components/router-link.tsx";
import { ServerTable, usePageSize } from "../../../components/server-table.tsx";
import { useLanguage } from "../../../language/language.tsx";
import { MonthVendorChoice } from "../../month-vendor-choice.tsx";
import { NewestMonth } from "../../newest-month.tsx";
import { useFindingColumns } from "./finding-columns.tsx";
import { FINDING_CODES, useFindingNames } from "./finding-texts.ts";
import { TieOutPanel } from "./tie-out-panel.tsx";

const TABLE = "checks";
const PATH = "/m/core/checks/{month}";

export default function ChecksPage() {
  const { t } = useLingui();
  const { month, vendor } = useParams();
  if (month === undefined || vendor === undefined)
    return (
      <NewestMonth
        title={t`Checks`}
        path={(newest, of) => `/checks/${month ?? newest}/${vendor ?? of}`}
      />
    );
  return <Checks month={month} vendor={vendor} />;
}

function Checks({ month, vendor }: { month: string; vendor: string }) {
  const { t } = useLingui();
  const { language } = useLanguage();
  const navigate = useNavigate();
  const control = useListState();
  const pageSize = usePageSize(TABLE);
  const columns = useFindingColumns();
  const code = control.filter("code");
  const request = {
    path: { month },
    query: { vendor, code, limit: pageSize, offset: (control.state.page - 1) * pageSize },
  };
  const checks = useApi(PATH, request, { placeholderData: keepPreviousData });
  const readAll = useReadAll(PATH, request, ({ findings }) => findings);
  const title = t`Checks of ${formatMonth(month, language)}`;
  return (
    <SpaceBetween size="l">
      <PageTitle title={title} />
      <ServerTable
        id={TABLE}
        title={title}
        description={checks.data && <Limits checks={checks.data} />}
        columns={columns}
        rows={checks.data?.findings}
        total={checks.data?.total}
        readAll={readAll}
        control={control}
        loading={checks.isLoading}
        error={checks.error}
        retry={() => checks.refetch()}
        rowId={(row) => `${row.code} ${row.company_id} ${row.vendor} ${row.customer_id ?? ""}`}
        filters={
          <SpaceBetween direction="horizontal" size="xs" alignItems="end">
            <CodeFilter control={control} counts={checks.data?.counts ?? {}} />
            <MonthVendorChoice
              month={month}
              vendor={vendor}
              onChange={(chosen, of) => navigate(`/checks/${chosen}/${of}`)}
            />
          </SpaceBetween>
        }
        actions={
          <SpaceBetween direction="horizontal" size="m" alignItems="center">
            <RouterLink to={`/months/${month}/${vendor}`}>
              <Trans>Steps of the month</Trans>
            </RouterLink>
            <Button onClick={() => checks.refetch()} loading={checks.isFetching}>
              <Trans>Check again</Trans>
            </Button>
          </SpaceBetween>
        }
        narrowing={["code"]}
        empty={
          <SpaceBetween size="xs">
            <b>
              <Trans>No invoice stands out</Trans>
            </b>
            <RouterLink to={`/months/${month}/${vendor}`}>
              <Trans>See the steps of the month</Trans>
            </RouterLink>
          </SpaceBetween>
        }
      />
      <TieOutPanel month={month} vendor={vendor} />
    </SpaceBetween>
  );
}

function Limits({ checks }: { checks: components["schemas"]["CheckList"] }) {
  const { language } = useLanguage();
  const change = formatPercent(checks.change_limit, language);
  const margin = formatPercent(checks.margin_limit, language);
  return (
    <Trans>
      Changes above {change} against last month, margins below {margin}, and what is zero, negative,
      new or missing. Open a customer to see the cause.
    </Trans>
  );
}

function CodeFilter({ control, counts }: { control: ListControl; counts: Record<string, number> }) {
  const { t } = useLingui();
  const names = useFindingNames();
  const options = [
    { value: "", label: t`All findings` },
    ...FINDING_CODES.map((code) => ({
      value: code,
      label: names[code],
      labelTag: String(counts[code] ?? 0),
    })),
  ];
  const chosen = control.filter("code");
  return (
    <Select
      ariaLabel={t`Kind of finding`}
      selectedOption={options.find((option) => option.value === chosen) ?? null}
      options={options}
      onChange={({ detail }) => control.setFilter("code", detail.selectedOption.value ?? "")}
    />
  );
}
