// Webhook endpoints: programs that are told what happened.
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { useApi } from "../../../api/queries.ts";
import { selectRows } from "../../../components/browser-list.ts";
import { useListState } from "../../../components/list-state.ts";
import { formatTime } from "../../../components/month.ts";
import { PageTitle } from "../../../components/page-title.tsx";
import { RouterLink } from "../../../components/router-link.tsx";
import { type Column, ServerTable, usePageSize } from "../../../components/server-table.tsx";
import { useLanguage } from "../../../language/language.tsx";
import { useMay } from "../../me.ts";
import { EndpointDialog } from "./endpoint-dialog.tsx";
import { EndpointState, EventCount, useEndpointStateText } from "./endpoint-state.tsx";
import type { WebhookEndpoint } from "./event-texts.ts";

const TABLE = "webhooks";

export default function WebhooksPage() {
  const { t } = useLingui();
  const mayChange = useMay()("ModifySettings");
  const control = useListState("create_time");
  const endpoints = useApi("/m/core/webhooks");
  const [creating, setCreating] = useState(false);
  const { rows, total, readAll } = selectRows(
    endpoints.data,
    control.state,
    usePageSize(TABLE),
    ({ url, description, create_time }) => ({ url, description, create_time }),
  );
  const create = mayChange && (
    <Button variant="primary" onClick={() => setCreating(true)}>
      <Trans>Add an endpoint</Trans>
    </Button>
  );
  return (
    <>
      <PageTitle title={t`Webhooks`} />
      <ServerTable<WebhookEndpoint>
        id={TABLE}
        title={t`Webhooks`}
        description={t`Other programs that are told when costs are imported, invoices are sent or months are closed.`}
        columns={useColumns()}
        rows={rows}
        total={total}
        readAll={readAll}
        control={control}
        loading={endpoints.isFetching}
        error={endpoints.error}
        retry={() => endpoints.refetch()}
        rowId={(endpoint) => endpoint.endpoint_id}
        searchLabel={t`URL or purpose`}
        actions={create}
        empty={
          <SpaceBetween size="xs">
            <b>
              <Trans>No endpoints</Trans>
            </b>
            <Box color="text-body-secondary">
              <Trans>Add the address of a program that should learn of events.</Trans>
            </Box>
            {create}
          </SpaceBetween>
        }
      />
      {creating && <EndpointDialog onEnd={() => setCreating(false)} />}
    </>
  );
}

function useColumns(): Column<WebhookEndpoint>[] {
  const { t } = useLingui();
  const { language } = useLanguage();
  const stateText = useEndpointStateText();
  return [
    {
      id: "url",
      header: t`URL`,
      sort: "url",
      alwaysVisible: true,
      width: 330,
      cell: (row) => <RouterLink to={`/webhooks/${row.endpoint_id}`}>{row.url}</RouterLink>,
      csv: (row) => row.url,
    },
    {
      id: "description",
      header: t`Purpose`,
      sort: "description",
      width: 235,
      cell: (row) => row.description || "–",
      csv: (row) => row.description,
    },
    {
      id: "events",
      header: t`Events`,
      width: 150,
      cell: (row) => <EventCount endpoint={row} />,
      csv: (row) => row.event_types.join(" "),
    },
    {
      id: "state",
      header: t`State`,
      width: 180,
      cell: (row) => <EndpointState endpoint={row} />,
      csv: stateText,
    },
    {
      id: "created",
      header: t`Creation time`,
      sort: "create_time",
      width: 175,
      cell: (row) => formatTime(row.create_time, language),
      csv: (row) => row.create_time,
    },
  ];
}
