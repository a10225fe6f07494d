// API clients of a person: programs that act in their name.
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import CopyToClipboard from "@cloudscape-design/components/copy-to-clipboard";
import Select from "@cloudscape-design/components/select";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { useApi } from "../../../api/queries.ts";
import type { components } from "../../../api/schema.ts";
import { selectRows } from "../../../components/browser-list.ts";
import { CreateApiClientDialog } from "../../../components/create-api-client-dialog.tsx";
import { DeleteApiClientDialog } from "../../../components/delete-api-client-dialog.tsx";
import { useListState } from "../../../components/list-state.ts";
import { formatTime } from "../../../components/month.ts";
import { PageTitle } from "../../../components/page-title.tsx";
import { type Column, ServerTable, usePageSize } from "../../../components/server-table.tsx";
import { useLanguage } from "../../../language/language.tsx";
import { useMay, useMe } from "../../me.ts";

type ApiClientRecord = components["schemas"]["ApiClientRecord"];
const TABLE = "api-clients";

export default function ApiClientsPage() {
  const { t } = useLingui();
  const me = useMe().data;
  const control = useListState("create_time", true);
  const user = control.filter("user") || me?.username || "";
  const clients = useApi("/m/u/users/clients/{user}", { path: { user } });
  const [creating, setCreating] = useState(false);
  const [doomed, setDoomed] = useState<ApiClientRecord>();
  const { rows, total, readAll } = selectRows(
    clients.data,
    control.state,
    usePageSize(TABLE),
    (client) => ({
      name: client.name,
      client_id: client.client_id,
      create_time: client.create_time,
    }),
  );
  const create = (
    <Button variant="primary" onClick={() => setCreating(true)}>
      <Trans>Create an API client</Trans>
    </Button>
  );
  return (
    <>
      <PageTitle title={t`API clients`} />
      <ServerTable<ApiClientRecord>
        id={TABLE}
        title={t`API clients`}
        description={t`Programs that work with the API in the name of a person, with the same permissions.`}
        columns={useColumns(setDoomed)}
        rows={rows}
        total={total}
        readAll={readAll}
        control={control}
        loading={clients.isFetching}
        error={clients.error}
        retry={() => clients.refetch()}
        rowId={(client) => client.client_id}
        searchLabel={t`Name or client id`}
        filters={<PersonChoice user={user} onChange={(name) => control.setFilter("user", name)} />}
        actions={create}
        empty={
          <SpaceBetween size="xs">
            <b>
              <Trans>{user} has no API client</Trans>
            </b>
            <Box color="text-body-secondary">
              <Trans>Create one for each program, so that each can be stopped alone.</Trans>
            </Box>
            {create}
          </SpaceBetween>
        }
      />
      {creating && <CreateApiClientDialog user={user} onEnd={() => setCreating(false)} />}
      {doomed !== undefined && (
        <DeleteApiClientDialog user={user} client={doomed} onEnd={() => setDoomed(undefined)} />
      )}
    </>
  );
}

function useColumns(onDelete: (client: ApiClientRecord) => void): Column<ApiClientRecord>[] {
  const { t } = useLingui();
  const { language } = useLanguage();
  return [
    {
      id: "name",
      header: t`Name`,
      sort: "name",
      alwaysVisible: true,
      width: 240,
      cell: (client) => client.name,
      csv: (client) => client.name,
    },
    {
      id: "client_id",
      header: t`Client id`,
      sort: "client_id",
      width: 380,
      cell: (client) => (
        <CopyToClipboard
          variant="inline"
          textToCopy={client.client_id}
          copyButtonAriaLabel={t`Copy the client id`}
          copySuccessText={t`Copied`}
          copyErrorText={t`Copying failed`}
        />
      ),
      csv: (client) => client.client_id,
    },
    {
      id: "created",
      header: t`Created`,
      sort: "create_time",
      width: 200,
      cell: (client) => formatTime(client.create_time, language),
      csv: (client) => client.create_time,
    },
    {
      id: "delete",
      header: t`Action`,
      width: 120,
      cell: (client) => (
        <Button
          variant="inline-link"
          ariaLabel={t`Delete ${client.name}`}
          onClick={() => onDelete(client)}
        >
          <Trans>Delete</Trans>
        </Button>
      ),
      csv: () => "",
    },
  ];
}

/** Whose API clients; only people who may see others have a choice. */
function PersonChoice({ user, onChange }: { user: string; onChange: (name: string) => void }) {
  const { t } = useLingui();
  const may = useMay();
  const me = useMe().data;
  const allowed = may("ModifyApiClients") && may("ReadUsers", "ModifyUsers");
  const people = useApi("/m/u/users", {}, { enabled: allowed });
  if (!allowed) return null;
  const names = [me?.username ?? "", ...(people.data ?? []).map((person) => person.username)];
  const options = [...new Set([...names, user])].map((name) => ({
    value: name,
    label: name === me?.username ? t`${name} (you)` : name,
  }));
  return (
    <Select
      ariaLabel={t`Person`}
      selectedOption={options.find((option) => option.value === user) ?? null}
      options={options}
      filteringType="auto"
      onChange={({ detail }) => onChange(detail.selectedOption.value ?? "")}
    />
  );
}
