// Groups of accounts, by which usage is shown: create, change, delete.
import Button from "@cloudscape-design/components/button";
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import Multiselect from "@cloudscape-design/components/multiselect";
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
import { useMayChange, useMe } from "../me.ts";

type Group = components["schemas"]["AccountGroup"];
type Open = { kind: "edit"; group?: Group } | { kind: "delete"; group: Group };

export default function AccountGroupsPage() {
  const { t } = useLingui();
  const filtered = useMe().data?.filtered ?? true;
  const mayChange = useMayChange()("ModifyGroups") && !filtered;
  const groups = useApi("/m/portal/groups");
  const accounts = useApi("/m/portal/accounts");
  const [open, setOpen] = useState<Open>();
  const end = () => setOpen(undefined);
  const names = new Map(accounts.data?.map((each) => [each.customer_id, each.name]));
  const members = (group: Group) => group.customer_ids.map((id) => names.get(id) ?? id).join(", ");
  const columns: Column<Group>[] = [
    {
      id: "name",
      header: t`Account group`,
      sort: "name",
      width: 220,
      alwaysVisible: true,
      cell: (group) => group.name,
      csv: (group) => group.name,
    },
    { id: "members", header: t`Accounts`, width: 420, cell: members, csv: members },
  ];
  if (mayChange)
    columns.push({
      id: "actions",
      header: t`Action`,
      width: 170,
      cell: (group) => (
        <SpaceBetween direction="horizontal" size="xs">
          <Button
            variant="inline-link"
            ariaLabel={t`Change ${group.name}`}
            onClick={() => setOpen({ kind: "edit", group })}
          >
            <Trans>Edit</Trans>
          </Button>
          <Button
            variant="inline-link"
            ariaLabel={t`Delete ${group.name}`}
            onClick={() => setOpen({ kind: "delete", group })}
          >
            <Trans>Delete</Trans>
          </Button>
        </SpaceBetween>
      ),
      csv: () => "",
    });
  return (
    <>
      <PageTitle title={t`Account groups`} />
      <BrowserTable<Group>
        id="portal-account-groups"
        title={t`Account groups`}
        description={t`An account may be in several groups. Usage can be shown by group.`}
        columns={columns}
        rows={groups.data}
        query={groups}
        rowId={(group) => group.group_id}
        searchLabel={t`Name or account`}
        actions={
          mayChange && (
            <Button variant="primary" onClick={() => setOpen({ kind: "edit" })}>
              <Trans>Create a group</Trans>
            </Button>
          )
        }
        empty={t`There is no account group yet.`}
      />
      {open?.kind === "edit" && (
        <GroupDialog {...(open.group && { group: open.group })} onEnd={end} />
      )}
      {open?.kind === "delete" && <DeleteDialog group={open.group} onEnd={end} />}
    </>
  );
}

function GroupDialog({ group, onEnd }: { group?: Group; onEnd: () => void }) {
  const { t } = useLingui();
  const { notify } = useNotifications();
  const accounts = useApi("/m/portal/accounts");
  const [name, setName] = useState(group?.name ?? "");
  const [members, setMembers] = useState<readonly string[]>(group?.customer_ids ?? []);
  const save = useChange(
    (client) => {
      const body = { name: name.trim(), customer_ids: [...members] };
      if (group === undefined) return client.post("/m/portal/groups", { body });
      return client.put("/m/portal/groups/{group_id}", {
        path: { group_id: group.group_id },
        body,
      });
    },
    {
      onSuccess: () => {
        notify({ type: "success", content: t`The account group was saved.` });
        onEnd();
      },
    },
  );
  const fieldErrors = useFieldErrors(save.error);
  const options = (accounts.data ?? []).map((each) => ({
    value: each.customer_id,
    label: each.name,
    description: each.customer_id,
  }));
  return (
    <ConfirmDialog
      title={group === undefined ? t`Create a group` : t`Change ${group.name}`}
      action={t`Save`}
      busy={save.isPending}
      error={save.error}
      ready={name.trim() !== ""}
      onConfirm={() => save.mutate(undefined)}
      onCancel={onEnd}
    >
      <SpaceBetween size="m">
        <FormField label={t`Name`} errorText={fieldErrors("name")}>
          <Input
            value={name}
            autoComplete={false}
            onChange={({ detail }) => setName(detail.value)}
          />
        </FormField>
        <FormField label={t`Accounts`} errorText={fieldErrors("customer_ids")}>
          <Multiselect
            placeholder={t`Choose accounts`}
            options={options}
            filteringType="auto"
            keepOpen
            selectedOptions={options.filter(({ value }) => members.includes(value))}
            deselectAriaLabel={(option) => t`Remove ${option.label ?? ""}`}
            onChange={({ detail }) =>
              setMembers(detail.selectedOptions.flatMap((option) => option.value ?? []))
            }
          />
        </FormField>
      </SpaceBetween>
    </ConfirmDialog>
  );
}

function DeleteDialog({ group, onEnd }: { group: Group; onEnd: () => void }) {
  const { t } = useLingui();
  const { notify } = useNotifications();
  const remove = useChange(
    (client) =>
      client.delete("/m/portal/groups/{group_id}", { path: { group_id: group.group_id } }),
    {
      onSuccess: () => {
        notify({ type: "success", content: t`${group.name} was deleted.` });
        onEnd();
      },
    },
  );
  return (
    <ConfirmDialog
      title={t`Delete ${group.name}`}
      action={t`Delete`}
      busy={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate(undefined)}
      onCancel={onEnd}
    >
      <Trans>The accounts and their costs stay.</Trans>
    </ConfirmDialog>
  );
}
