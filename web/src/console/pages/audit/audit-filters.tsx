// Which changes the audit log shows: by kind, person, customer and time.
import Select from "@cloudscape-design/components/select";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { useApi, useApiPage } from "../../../api/queries.ts";
import type { ListControl } from "../../../components/list-state.ts";
import { PeriodFilter } from "../../../components/period-filter.tsx";
import { useMay, useMe } from "../../me.ts";
import { useActionGroups } from "./action-texts.ts";
import { useNameOfCustomer } from "./names.ts";

const FILTERS = ["action", "actor", "company", "object_type", "object_id", "from", "to"];

export function hasFilters(control: ListControl): boolean {
  return FILTERS.some((name) => control.filter(name) !== "");
}

export function clearFilters(control: ListControl): void {
  control.setFilters(Object.fromEntries(FILTERS.map((name) => [name, ""])));
}

/** The chosen days are those of the person; the service takes points in time. */
export function readTimes(control: ListControl): { from?: string; to?: string } {
  const from = startOfDay(control.filter("from"), 0);
  const to = startOfDay(control.filter("to"), 1);
  return { ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
}

function startOfDay(date: string, later: number): string | undefined {
  const [year, month, day] = date.split("-").map(Number);
  if (!year || !month || !day) return undefined;
  return new Date(year, month - 1, day + later).toISOString();
}

export function AuditFilters({ control }: { control: ListControl }) {
  return (
    <SpaceBetween direction="horizontal" size="xs">
      <ActionFilter control={control} />
      <PersonFilter control={control} />
      <CustomerFilter control={control} />
      <PeriodFilter control={control} />
    </SpaceBetween>
  );
}

function ActionFilter({ control }: { control: ListControl }) {
  const { t } = useLingui();
  const all = { value: "", label: t`All kinds of change` };
  const groups = useActionGroups().map((group) => ({
    label: group.title,
    options: Object.entries(group.actions).map(([value, label]) => ({ value, label })),
  }));
  const chosen = groups
    .flatMap((group) => group.options)
    .find((option) => option.value === control.filter("action"));
  return (
    <Select
      ariaLabel={t`Kind of change`}
      filteringType="auto"
      filteringAriaLabel={t`Find`}
      expandToViewport
      selectedOption={chosen ?? all}
      options={[all, ...groups]}
      onChange={({ detail }) => control.setFilter("action", detail.selectedOption.value ?? "")}
    />
  );
}

function PersonFilter({ control }: { control: ListControl }) {
  const { t } = useLingui();
  const me = useMe().data;
  const allowed = useMay()("ReadUsers", "ModifyUsers");
  const [search, setSearch] = useState("");
  const actor = control.filter("actor");
  // The chosen person is found by their id.
  const query = { search: search === "" && actor !== "" ? actor : search, limit: 50 };
  const people = useApi("/m/u/users", { query }, { enabled: allowed });
  const all = { value: "", label: t`Everybody` };
  const options = [
    all,
    ...(me === undefined ? [] : [{ value: me.user_id, label: me.username }]),
    ...(people.data ?? [])
      .filter((person) => person.user_id !== me?.user_id)
      .map((person) => ({ value: person.user_id, label: person.username })),
  ];
  const chosen = options.find((option) => option.value === actor);
  return (
    <Select
      ariaLabel={t`Person`}
      filteringType="manual"
      filteringPlaceholder={t`Name or e-mail`}
      filteringAriaLabel={t`Name or e-mail`}
      expandToViewport
      statusType={people.isError ? "error" : people.isFetching ? "loading" : "finished"}
      loadingText={t`Loading`}
      errorText={t`The people could not be loaded.`}
      empty={t`Nothing found`}
      onLoadItems={({ detail }) => setSearch(detail.filteringText)}
      selectedOption={chosen ?? { value: actor, label: actor }}
      options={options}
      onChange={({ detail }) => control.setFilter("actor", detail.selectedOption.value ?? "")}
    />
  );
}

function CustomerFilter({ control }: { control: ListControl }) {
  const { t } = useLingui();
  const [search, setSearch] = useState("");
  const groups = useApiPage("/m/core/billinggroup", {
    query: { search, limit: 50, sort: "billinggroup_name" },
  });
  const company = control.filter("company");
  const companyName = useNameOfCustomer(company);
  const all = { value: "", label: t`All customers` };
  const options = (groups.data?.data ?? []).map((group) => ({
    value: group.company_id,
    label: group.billinggroup_name,
    description: group.billinggroup_id,
  }));
  return (
    <Select
      ariaLabel={t`Customer`}
      filteringType="manual"
      filteringPlaceholder={t`Name or number`}
      filteringAriaLabel={t`Name or number`}
      expandToViewport
      selectedOption={company === "" ? all : { value: company, label: companyName }}
      options={search === "" ? [all, ...options] : options}
      statusType={groups.isError ? "error" : groups.isFetching ? "loading" : "finished"}
      loadingText={t`Loading`}
      errorText={t`The customers could not be loaded.`}
      empty={t`Nothing found`}
      onLoadItems={({ detail }) => setSearch(detail.filteringText)}
      onChange={({ detail }) => control.setFilter("company", detail.selectedOption.value ?? "")}
    />
  );
}
