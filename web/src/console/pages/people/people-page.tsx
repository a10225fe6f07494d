// Who works with the organisation's data: the list of people.
import Badge from "@cloudscape-design/components/badge";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import { useNavigate } from "react-router";
import { useApiPage } from "../../../api/queries.ts";
import type { components } from "../../../api/schema.ts";
import { useListState } from "../../../components/list-state.ts";
import { formatTime } from "../../../components/month.ts";
import { PageTitle } from "../../../components/page-title.tsx";
import { RouterLink } from "../../../components/router-link.tsx";
import { type Column, ServerTable, usePageSize } from "../../../components/server-table.tsx";
import { useLanguage } from "../../../language/language.tsx";
import { useMay } from "../../me.ts";

type Person = components["schemas"]["Subuser"];
const TABLE = "people";

export default function PeoplePage() {
  const { t } = useLingui();
  const may = useMay();
  const navigate = useNavigate();
  const control = useListState("username");
  const { page, search, sort, descending } = control.state;
  const pageSize = usePageSize(TABLE);
  const people = useApiPage("/m/u/users", {
    query: {
      limit: pageSize,
      offset: (page - 1) * pageSize,
      search,
      sort: `${descending ? "-" : ""}${sort}`,
      details: true,
    },
  });
  const mayAdd = may("ModifyUsers");
  const add = (
    <Button variant="primary" onClick={() => navigate("/people/new")}>
      <Trans>Add a person</Trans>
    </Button>
  );
  return (
    <>
      <PageTitle title={t`People`} />
      <ServerTable<Person>
        id={TABLE}
        title={t`People`}
        description={t`Everybody who signs in, what they may do and for which customers.`}
        columns={useColumns()}
        rows={people.data?.data}
        total={people.data?.total}
        readAll={people.readAll}
        control={control}
        loading={people.isFetching}
        error={people.error}
        retry={() => people.refetch()}
        rowId={(person) => person.user_id}
        searchLabel={t`Name or e-mail`}
        actions={mayAdd && add}
        empty={
          <SpaceBetween size="xs">
            <b>
              <Trans>Nobody else works with this organisation yet</Trans>
            </b>
            <Box color="text-body-secondary">
              <Trans>Add a person and choose what they may do.</Trans>
            </Box>
            {mayAdd && add}
          </SpaceBetween>
        }
      />
    </>
  );
}

function useColumns(): Column<Person>[] {
  const { t } = useLingui();
  const { language } = useLanguage();
  const mayReadRoles = useMay()("ReadRoles", "ModifyRoles");
  const columns: Column<Person>[] = [
    {
      id: "username",
      header: t`User name`,
      sort: "username",
      alwaysVisible: true,
      width: 200,
      cell: (person) => (
        <RouterLink to={`/people/${person.username}`}>{person.username}</RouterLink>
      ),
      csv: (person) => person.username,
    },
    {
      id: "email",
      header: t`E-mail`,
      sort: "email",
      width: 240,
      cell: (person) => person.email ?? "–",
      csv: (person) => person.email ?? "",
    },
    {
      id: "created",
      header: t`Added`,
      sort: "create_time",
      width: 200,
      cell: (person) => formatTime(person.create_time, language),
      csv: (person) => person.create_time,
    },
  ];
  if (mayReadRoles)
    columns.splice(1, 0, {
      id: "access",
      header: t`Roles and customers`,
      width: 380,
      cell: (person) => <AccessSummary person={person} />,
      csv: (person) => (person.roles ?? []).join(" "),
    });
  return columns;
}

/** The roles of a person, and how many customers they see. */
function AccessSummary({ person }: { person: Person }) {
  const { t } = useLingui();
  const roles = person.roles ?? [];
  const groups = person.billing_group_count;
  return (
    <SpaceBetween direction="horizontal" size="xs">
      {roles.length === 0 && <Badge color="severity-medium">{t`no role`}</Badge>}
      {roles.map((role) => (
        <Badge key={role}>{role}</Badge>
      ))}
      <span>{groups == null ? t`all customers` : t`${groups} customers`}</span>
    </SpaceBetween>
  );
}
