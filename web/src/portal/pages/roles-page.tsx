// The roles of the company's people, each with what it allows.
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Checkbox from "@cloudscape-design/components/checkbox";
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { useApi, useChange } from "../../api/queries.ts";
import type { components } from "../../api/schema.ts";
import { ConfirmDialog } from "../../components/confirm-dialog.tsx";
import { useNotifications } from "../../components/notifications.tsx";
import { PageTitle } from "../../components/page-title.tsx";
import { useFieldErrors } from "../../components/rule-text.ts";
import type { Column } from "../../components/server-table.tsx";
import { BrowserTable } from "../browser-table.tsx";
import { useMayChange } from "../me.ts";
import { ADMIN, usePermissionTexts } from "../permission-texts.ts";
import "../../components/plain-fieldset.css";

type Role = components["schemas"]["Role"];
type Open = { kind: "edit"; role?: Role } | { kind: "delete"; role: Role };

const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{4,30}[A-Za-z0-9]$/;

export default function RolesPage() {
  const { t } = useLingui();
  const mayChange = useMayChange()("ModifyRoles");
  const texts = usePermissionTexts();
  const roles = useApi("/m/auth/rbac/roles", { query: { namespace: "portal", etags: true } });
  const [open, setOpen] = useState<Open>();
  const end = () => setOpen(undefined);
  const describe = (role: Role) => role.permissions.map((action) => texts[action] ?? action);
  const columns: Column<Role>[] = [
    {
      id: "name",
      header: t`Role`,
      sort: "name",
      width: 200,
      alwaysVisible: true,
      cell: (role) => role.name,
      csv: (role) => role.name,
    },
    {
      id: "permissions",
      header: t`What it allows`,
      width: 420,
      cell: (role) => describe(role).map((sentence) => <div key={sentence}>{sentence}</div>),
      csv: (role) => describe(role).join(" / "),
    },
  ];
  if (mayChange)
    columns.push({
      id: "actions",
      header: t`Action`,
      width: 170,
      cell: (role) => (
        <SpaceBetween direction="horizontal" size="xs">
          <Button
            variant="inline-link"
            ariaLabel={t`Change ${role.name}`}
            onClick={() => setOpen({ kind: "edit", role })}
          >
            <Trans>Edit</Trans>
          </Button>
          <Button
            variant="inline-link"
            ariaLabel={t`Delete ${role.name}`}
            onClick={() => setOpen({ kind: "delete", role })}
          >
            <Trans>Delete</Trans>
          </Button>
        </SpaceBetween>
      ),
      csv: () => "",
    });
  return (
    <>
      <PageTitle title={t`Roles`} />
      <BrowserTable<Role>
        id="portal-roles"
        title={t`Roles`}
        description={t`A role is a set of permissions that people can have.`}
        columns={columns}
        rows={roles.data}
        query={roles}
        rowId={(role) => role.name}
        searchLabel={t`Name or permission`}
        actions={
          mayChange && (
            <Button variant="primary" onClick={() => setOpen({ kind: "edit" })}>
              <Trans>Create a role</Trans>
            </Button>
          )
        }
        empty={t`There is no role yet.`}
      />
      {open?.kind === "edit" && <RoleDialog {...(open.role && { role: open.role })} onEnd={end} />}
      {open?.kind === "delete" && <DeleteDialog role={open.role} onEnd={end} />}
    </>
  );
}

function RoleDialog({ role, onEnd }: { role?: Role; onEnd: () => void }) {
  const { t } = useLingui();
  const { notify } = useNotifications();
  const texts = usePermissionTexts();
  const [name, setName] = useState(role?.name ?? "");
  const [permissions, setPermissions] = useState<readonly string[]>(role?.permissions ?? []);
  const isAdmin = permissions.includes(ADMIN);
  const save = useChange(
    (client) => {
      const body = { name, permissions: [...permissions] };
      if (role === undefined)
        return client.post("/m/auth/rbac/roles", { body: { ...body, namespace: "portal" } });
      return client.patch("/m/auth/rbac/roles/{namespace}/{rolename}", {
        path: { namespace: "portal", rolename: role.name },
        body,
        ifMatch: role.etag,
      });
    },
    {
      onSuccess: () => {
        notify({ type: "success", content: t`The role ${name} was saved.` });
        onEnd();
      },
    },
  );
  const fieldErrors = useFieldErrors(save.error);
  return (
    <ConfirmDialog
      title={role === undefined ? t`Create a role` : t`Change ${role.name}`}
      action={t`Save`}
      busy={save.isPending}
      error={save.error}
      ready={NAME.test(name) && permissions.length > 0}
      onConfirm={() => save.mutate(undefined)}
      onCancel={onEnd}
    >
      <SpaceBetween size="m">
        <FormField
          label={t`Name of the role`}
          constraintText={t`6 to 32 letters and digits, with - and _ between them`}
          errorText={
            fieldErrors("name") ||
            (name.length >= 6 && !NAME.test(name) && t`Use letters A to Z and digits only.`)
          }
        >
          <Input
            value={name}
            autoComplete={false}
            onChange={({ detail }) => setName(detail.value.trim())}
          />
        </FormField>
        <fieldset className="plain-fieldset">
          <legend>
            <Box fontWeight="bold">
              <Trans>People with this role</Trans>
            </Box>
          </legend>
          {Object.entries(texts).map(([action, sentence]) => (
            <Checkbox
              key={action}
              checked={isAdmin || permissions.includes(action)}
              disabled={isAdmin && action !== ADMIN}
              onChange={({ detail }) =>
                setPermissions(
                  detail.checked
                    ? [...permissions, action]
                    : permissions.filter((each) => each !== action),
                )
              }
            >
              {sentence}
            </Checkbox>
          ))}
        </fieldset>
      </SpaceBetween>
    </ConfirmDialog>
  );
}

function DeleteDialog({ role, onEnd }: { role: Role; onEnd: () => void }) {
  const { t } = useLingui();
  const { notify } = useNotifications();
  const remove = useChange(
    (client) =>
      client.delete("/m/auth/rbac/roles/{namespace}/{rolename}", {
        path: { namespace: "portal", rolename: role.name },
      }),
    {
      onSuccess: () => {
        notify({ type: "success", content: t`The role ${role.name} was deleted.` });
        onEnd();
      },
    },
  );
  return (
    <ConfirmDialog
      title={t`Delete the role ${role.name}`}
      word={role.name}
      action={t`Delete`}
      busy={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate(undefined)}
      onCancel={onEnd}
    >
      <Trans>Everybody who has this role loses its permissions at once.</Trans>
    </ConfirmDialog>
  );
}
