// What each project earns in a month, and how it developed.
import Button from "@cloudscape-design/components/button";
import SegmentedControl from "@cloudscape-design/components/segmented-control";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import { keepPreviousData } from "@tanstack/react-query";
import { useState } from "react";
import { useSearchParams } from "react-router";
import { useApi } from "../../../api/queries.ts";
import type { components } from "../../../api/schema.ts";
import { haveAll } from "../../../components/browser-list.ts";
import { type ListControl, useListState } from "../../../components/list-state.ts";
import { formatMonth } from "../../../components/month.ts";
import { PageTitle } from "../../../components/page-title.tsx";
import { ServerTable, usePageSize } from "../../../components/server-table.tsx";
import { formatVendor } from "../../../components/vendor.ts";
import { useLanguage } from "../../../language/language.tsx";
import { MonthSelect } from "../../choices.tsx";
import { useMay, useMe } from "../../me.ts";
import { NewestMonth } from "../../newest-month.tsx";
import { DeleteProjectDialog } from "./delete-project-dialog.tsx";
import { ProfitChart } from "./profit-chart.tsx";
import { useProjectColumns } from "./project-columns.tsx";
import { ProjectDialog } from "./project-dialog.tsx";

export type ProjectProfit = components["schemas"]["ProjectProfit"];

const TABLE = "projects";

export default function ProjectsPage() {
  const { t } = useLingui();
  const month = useSearchParams()[0].get("month");
  if (month === null)
    return <NewestMonth title={t`Projects`} path={(newest) => `/projects?month=${newest}`} />;
  return <Projects month={month} />;
}

type Dialog =
  | { kind: "create" }
  | { kind: "edit"; project: ProjectProfit }
  | { kind: "delete"; project: ProjectProfit };

function Projects({ month }: { month: string }) {
  const { t } = useLingui();
  const { language } = useLanguage();
  const mayChange = useMay()("ModifyProject");
  const control = useListState("project_code");
  const pageSize = usePageSize(TABLE);
  const [dialog, setDialog] = useState<Dialog>();
  const vendor = control.filter("vendor");
  const projects = useApi(
    "/m/core/project/{project_id_or_month}",
    { path: { project_id_or_month: month } },
    { placeholderData: keepPreviousData },
  );
  const found = projects.data && selectProjects(projects.data, control);
  const first = (control.state.page - 1) * pageSize;
  const columns = useProjectColumns(vendor, {
    mayChange,
    onEdit: (project) => setDialog({ kind: "edit", project }),
    onDelete: (project) => setDialog({ kind: "delete", project }),
  });
  const title = t`Projects in ${formatMonth(month, language)}`;
  const end = () => setDialog(undefined);
  return (
    <SpaceBetween size="l">
      <PageTitle title={title} />
      <ServerTable
        id={TABLE}
        title={title}
        description={t`Sales before tax and the vendor's costs of the customers in each project.`}
        columns={columns}
        rows={found?.slice(first, first + pageSize)}
        total={found?.length}
        readAll={haveAll(found ?? [])}
        control={control}
        loading={projects.isLoading}
        error={projects.error}
        retry={() => projects.refetch()}
        rowId={(row) => row.project_id}
        searchLabel={t`Code or name`}
        filters={
          <SpaceBetween direction="horizontal" size="xs" alignItems="end">
            <VendorFilter control={control} />
            <MonthSelect value={month} onChange={(chosen) => control.setFilter("month", chosen)} />
          </SpaceBetween>
        }
        actions={
          mayChange && (
            <Button variant="primary" onClick={() => setDialog({ kind: "create" })}>
              <Trans>Create a project</Trans>
            </Button>
          )
        }
        empty={
          <SpaceBetween size="xs">
            <b>
              <Trans>No projects</Trans>
            </b>
            <Trans>A project groups customers, so that you see what they earn together.</Trans>
          </SpaceBetween>
        }
      />
      <ProfitChart month={month} vendor={vendor} />
      {dialog?.kind === "create" && <ProjectDialog onEnd={end} />}
      {dialog?.kind === "edit" && <ProjectDialog project={dialog.project} onEnd={end} />}
      {dialog?.kind === "delete" && <DeleteProjectDialog project={dialog.project} onEnd={end} />}
    </SpaceBetween>
  );
}

/** The service returns all projects of a month at once; an organisation has few. */
function selectProjects(projects: readonly ProjectProfit[], control: ListControl): ProjectProfit[] {
  const { search, sort, descending } = control.state;
  const wanted = search.trim().toLowerCase();
  const name = sort === "project_label" ? "project_label" : "project_code";
  const direction = descending ? -1 : 1;
  return projects
    .filter((row) => `${row.project_code} ${row.project_label}`.toLowerCase().includes(wanted))
    .sort((one, other) => direction * one[name].localeCompare(other[name]));
}

function VendorFilter({ control }: { control: ListControl }) {
  const { t } = useLingui();
  const vendors = useMe().data?.vendors ?? [];
  return (
    <SegmentedControl
      label={t`Vendor`}
      selectedId={control.filter("vendor") || "all"}
      options={[
        { id: "all", text: t`All vendors` },
        ...vendors.map((id) => ({ id, text: formatVendor(id) })),
      ]}
      onChange={({ detail }) =>
        control.setFilter("vendor", detail.selectedId === "all" ? "" : detail.selectedId)
      }
    />
  );
}
