// The roles of the organisation, each with what it allows.
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import { useNavigate } from "react-router";
import { useApi } from "../../../api/queries.ts";
import type { components } from "../../../api/schema.ts";
import { selectRows } from "../../../components/browser-list.ts";
import { useListState } from "../../../components/list-state.ts";
import { PageTitle } from "../../../components/page-title.tsx";
import { RouterLink } from "../../../components/router-link.tsx";
import { type Column, ServerTable, usePageSize } from "../../../components/server-table.tsx";
import { useMay } from "../../me.ts";
import { ADMIN, selectSentences, usePermissionAreas } from "../../permission-texts.ts";

export type Role = components["schemas"]["Role"];
const TABLE = "roles";

export default function RolesPage() {
  const { t } = useLingui();
  const mayChange = useMay()("ModifyRoles");
  const navigate = useNavigate();
  const control = useListState("name");
  const roles = useApi("/m/auth/rbac/roles", { query: { namespace: "core" } });
  const describe = useRoleText();
  const { rows, total, readAll } = selectRows(
    roles.data,
    control.state,
    usePageSize(TABLE),
    (role) => ({
      name: role.name,
      permissions: describe(role).join(),
    }),
  );
  const columns: Column<Role>[] = [
    {
      id: "name",
      header: t`Role`,
      sort: "name",
      alwaysVisible: true,
      width: 220,
      cell: (role) => <RouterLink to={`/roles/${role.name}`}>{role.name}</RouterLink>,
      csv: (role) => role.name,
    },
    {
      id: "permissions",
      header: t`What it allows`,
      width: 600,
      cell: (role) => describe(role).map((sentence) => <div key={sentence}>{sentence}</div>),
      csv: (role) => describe(role).join(" / "),
    },
  ];
  const create = (
    <Button variant="primary" onClick={() => navigate("/roles/new")}>
      <Trans>Create a role</Trans>
    </Button>
  );
  return (
    <>
      <PageTitle title={t`Roles`} />
      <ServerTable<Role>
        id={TABLE}
        title={t`Roles`}
        description={t`A role is a set of permissions that people can have.`}
        columns={columns}
        rows={rows}
        total={total}
        readAll={readAll}
        control={control}
        loading={roles.isFetching}
        error={roles.error}
        retry={() => roles.refetch()}
        rowId={(role) => role.name}
        searchLabel={t`Name or permission`}
        actions={mayChange && create}
        empty={
          <SpaceBetween size="xs">
            <b>
              <Trans>There is no role yet.</Trans>
            </b>
            <Box color="text-body-secondary">
              <Trans>Create a role, then give it to people.</Trans>
            </Box>
            {mayChange && create}
          </SpaceBetween>
        }
      />
    </>
  );
}

/** What a role allows, as sentences. */
function useRoleText(): (role: Role) => string[] {
  const { t } = useLingui();
  const areas = usePermissionAreas();
  return ({ permissions }) =>
    permissions.includes(ADMIN)
      ? [t`may do everything`]
      : selectSentences(areas, permissions).flatMap((area) => area.sentences);
}
