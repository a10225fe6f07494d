// Creates a role, or changes its name and what it allows.
import Alert from "@cloudscape-design/components/alert";
import Button from "@cloudscape-design/components/button";
import ContentLayout from "@cloudscape-design/components/content-layout";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { useParams } from "react-router";
import { useApi } from "../../../api/queries.ts";
import { PageTitle } from "../../../components/page-title.tsx";
import { QueryState } from "../../../components/query-state.tsx";
import { RouterLink } from "../../../components/router-link.tsx";
import { AuditLink } from "../../audit-link.tsx";
import { useMay } from "../../me.ts";
import { DeleteRoleDialog } from "./delete-role-dialog.tsx";
import { RoleForm } from "./role-form.tsx";
import type { Role } from "./roles-page.tsx";

export default function RolePage() {
  const { t } = useLingui();
  const { role: name } = useParams();
  const roles = useApi("/m/auth/rbac/roles", { query: { namespace: "core", etags: true } });
  if (name === undefined) return <Frame title={t`Create a role`} />;
  return (
    <QueryState query={roles}>
      {(listed) => {
        const role = listed.find((each) => each.name === name);
        if (role !== undefined) return <Frame key={name} title={role.name} role={role} />;
        return (
          <Alert type="warning" header={t`There is no role with this name.`}>
            <RouterLink to="/roles">
              <Trans>See all roles</Trans>
            </RouterLink>
          </Alert>
        );
      }}
    </QueryState>
  );
}

function Frame({ title, role }: { title: string; role?: Role }) {
  const { t } = useLingui();
  const mayChange = useMay()("ModifyRoles");
  const [deleting, setDeleting] = useState(false);
  return (
    <ContentLayout
      header={
        <Header
          variant="h1"
          description={t`Everybody who has this role may do what is ticked. Changing something includes reading it.`}
          actions={
            role !== undefined && (
              <SpaceBetween direction="horizontal" size="m" alignItems="center">
                <AuditLink search={`role/core/${role.name}`} />
                {mayChange && (
                  <Button onClick={() => setDeleting(true)}>
                    <Trans>Delete</Trans>
                  </Button>
                )}
              </SpaceBetween>
            )
          }
        >
          {title}
        </Header>
      }
    >
      <PageTitle title={title} />
      <RoleForm {...(role !== undefined && { role })} />
      {deleting && role !== undefined && (
        <DeleteRoleDialog role={role} onEnd={() => setDeleting(false)} />
      )}
    </ContentLayout>
  );
}
