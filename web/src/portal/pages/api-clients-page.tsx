// The person's own API clients: programs that act in their name.
import Button from "@cloudscape-design/components/button";
import { Trans, useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { useApi } from "../../api/queries.ts";
import type { components } from "../../api/schema.ts";
import { CreateApiClientDialog } from "../../components/create-api-client-dialog.tsx";
import { DeleteApiClientDialog } from "../../components/delete-api-client-dialog.tsx";
import { formatTime } from "../../components/month.ts";
import { PageTitle } from "../../components/page-title.tsx";
import type { Column } from "../../components/server-table.tsx";
import { useLanguage } from "../../language/language.tsx";
import { BrowserTable } from "../browser-table.tsx";
import { useMayChange, useMe } from "../me.ts";

type ApiClientRecord = components["schemas"]["ApiClientRecord"];

export default function ApiClientsPage() {
  const { t } = useLingui();
  const { language } = useLanguage();
  const me = useMe().data;
  const username = me?.username ?? "";
  const clients = useApi(
    "/m/u/users/clients/{user}",
    { path: { user: me?.user_id ?? "" } },
    { enabled: me !== undefined },
  );
  const mayChange = useMayChange()("ModifyApiClients");
  const [creating, setCreating] = useState(false);
  const [doomed, setDoomed] = useState<ApiClientRecord>();
  const columns: Column<ApiClientRecord>[] = [
    {
      id: "name",
      header: t`Name`,
      sort: "name",
      width: 220,
      alwaysVisible: true,
      cell: (client) => client.name,
      csv: (client) => client.name,
    },
    {
      id: "client_id",
      header: t`Client id`,
      sort: "client_id",
      width: 320,
      cell: (client) => client.client_id,
      csv: (client) => client.client_id,
    },
    {
      id: "created",
      header: t`Created`,
      sort: "created",
      width: 180,
      cell: (client) => formatTime(client.create_time, language),
      csv: (client) => client.create_time,
    },
  ];
  if (mayChange)
    columns.push({
      id: "delete",
      header: t`Action`,
      width: 120,
      cell: (client) => (
        <Button
          variant="inline-link"
          ariaLabel={t`Delete ${client.name}`}
          onClick={() => setDoomed(client)}
        >
          <Trans>Delete</Trans>
        </Button>
      ),
      csv: () => "",
    });
  return (
    <>
      <PageTitle title={t`API clients`} />
      <BrowserTable<ApiClientRecord>
        id="portal-api-clients"
        title={t`API clients`}
        description={t`Programs that work with the API in the name of a person, with the same permissions.`}
        columns={columns}
        rows={clients.data}
        query={clients}
        rowId={(client) => client.client_id}
        searchLabel={t`Name or client id`}
        actions={
          mayChange && (
            <Button variant="primary" onClick={() => setCreating(true)}>
              <Trans>Create an API client</Trans>
            </Button>
          )
        }
        empty={t`Create one for each program, so that each can be stopped alone.`}
      />
      {creating && <CreateApiClientDialog user={username} onEnd={() => setCreating(false)} />}
      {doomed !== undefined && (
        <DeleteApiClientDialog user={username} client={doomed} onEnd={() => setDoomed(undefined)} />
      )}
    </>
  );
}
