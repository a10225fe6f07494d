// The requests for approval: what waits, and what became of earlier ones.
import Box from "@cloudscape-design/components/box";
import Select from "@cloudscape-design/components/select";
import SpaceBetween from "@cloudscape-design/components/space-between";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import { Trans, useLingui } from "@lingui/react/macro";
import { useApiPage } from "../../../api/queries.ts";
import { type ListControl, useListState } from "../../../components/list-state.ts";
import { formatMonth, formatTime } from "../../../components/month.ts";
import { PageTitle } from "../../../components/page-title.tsx";
import { RouterLink } from "../../../components/router-link.tsx";
import { type Column, ServerTable, usePageSize } from "../../../components/server-table.tsx";
import { useLanguage } from "../../../language/language.tsx";
import {
  type ShortApproval,
  STATE_INDICATORS,
  useApprovalKinds,
  useApprovalStates,
  useApprovalTitle,
} from "./approval-texts.ts";

const TABLE = "approvals";

export default function ApprovalsPage() {
  const { t } = useLingui();
  const control = useListState();
  const pageSize = usePageSize(TABLE);
  const { page, search, sort } = control.state;
  const state = control.filter("state");
  const kind = control.filter("kind");
  const approvals = useApiPage("/m/core/approvals", {
    query: {
      limit: pageSize,
      offset: (page - 1) * pageSize,
      ...(search !== "" && { search }),
      ...(sort !== undefined && { sort }),
      ...(state !== "" && { state }),
      ...(kind !== "" && { approval_kind: kind }),
    },
  });
  return (
    <>
      <PageTitle title={t`Approvals`} />
      <ServerTable<ShortApproval>
        id={TABLE}
        title={t`Approvals`}
        description={t`Operations that are done as soon as a second person approves them.`}
        columns={useColumns()}
        rows={approvals.data?.data}
        total={approvals.data?.total}
        readAll={approvals.readAll}
        control={control}
        loading={approvals.isFetching}
        error={approvals.error}
        retry={() => approvals.refetch()}
        rowId={(approval) => approval.approval_id}
        searchLabel={t`Month, comment or person`}
        filters={<Filters control={control} />}
        narrowing={["state", "kind"]}
        empty={
          <SpaceBetween size="xs">
            <b>
              <Trans>No requests</Trans>
            </b>
            <Box color="text-body-secondary">
              <Trans>Which operations need approval is chosen in the settings.</Trans>
            </Box>
          </SpaceBetween>
        }
      />
    </>
  );
}

function Filters({ control }: { control: ListControl }) {
  const { t } = useLingui();
  const choices = [
    { name: "state", label: t`State`, all: t`All states`, texts: useApprovalStates() },
    { name: "kind", label: t`Kind`, all: t`All kinds`, texts: useApprovalKinds() },
  ];
  return (
    <SpaceBetween direction="horizontal" size="xs">
      {choices.map(({ name, label, all, texts }) => {
        const options = [
          { value: "", label: all },
          ...Object.entries(texts).map(([value, text]) => ({ value, label: text })),
        ];
        return (
          <Select
            key={name}
            ariaLabel={label}
            selectedOption={options.find(({ value }) => value === control.filter(name)) ?? null}
            options={options}
            onChange={({ detail }) => control.setFilter(name, detail.selectedOption.value ?? "")}
          />
        );
      })}
    </SpaceBetween>
  );
}

function useColumns(): Column<ShortApproval>[] {
  const { t } = useLingui();
  const { language } = useLanguage();
  const title = useApprovalTitle();
  const states = useApprovalStates();
  return [
    {
      id: "kind",
      header: t`Kind`,
      sort: "kind",
      alwaysVisible: true,
      width: 170,
      cell: (row) => <RouterLink to={`/approvals/${row.approval_id}`}>{title(row)}</RouterLink>,
      csv: title,
    },
    {
      id: "month",
      header: t`Month`,
      width: 140,
      cell: (row) => (row.target.month ? formatMonth(row.target.month, language) : "–"),
      csv: (row) => row.target.month ?? "",
    },
    {
      id: "state",
      header: t`State`,
      width: 150,
      cell: (row) => (
        <StatusIndicator type={STATE_INDICATORS[row.state]}>{states[row.state]}</StatusIndicator>
      ),
      csv: (row) => states[row.state],
    },
    {
      id: "requested_by",
      header: t`Requested by`,
      sort: "requested_by",
      width: 130,
      cell: (row) => row.requested_by,
      csv: (row) => row.requested_by,
    },
    {
      id: "comment",
      header: t`Comment`,
      width: 165,
      cell: (row) => row.comment || "–",
      csv: (row) => row.comment,
    },
    {
      id: "created",
      header: t`Creation time`,
      sort: "create_time",
      width: 165,
      cell: (row) => formatTime(row.create_time, language),
      csv: (row) => row.create_time,
    },
    {
      id: "expires",
      header: t`Expires`,
      sort: "expire_time",
      width: 165,
      cell: (row) => formatTime(row.expire_time, language),
      csv: (row) => row.expire_time,
    },
  ];
}
