// The deliveries of an endpoint, the newest event first; each can be sent again.
import Button from "@cloudscape-design/components/button";
import SegmentedControl from "@cloudscape-design/components/segmented-control";
import { Trans, useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { useApiPage, useChange } from "../../../api/queries.ts";
import { formatNumber } from "../../../components/amount-format.ts";
import { type ListControl, useListState } from "../../../components/list-state.ts";
import { formatTime } from "../../../components/month.ts";
import { useNotifications } from "../../../components/notifications.tsx";
import { type Column, ServerTable, usePageSize } from "../../../components/server-table.tsx";
import { useLanguage } from "../../../language/language.tsx";
import { useMay } from "../../me.ts";
import {
  type Delivery,
  DeliveryState,
  useDeliveryStates,
  useResultText,
} from "./delivery-state.tsx";
import { useEventText, type WebhookEndpoint } from "./event-texts.ts";
import { ReplayFailedDialog } from "./replay-failed-dialog.tsx";

const TABLE = "webhook-deliveries";
const POLL_MILLISECONDS = 2_000;

export function DeliveriesTable({ endpoint }: { endpoint: WebhookEndpoint }) {
  const { t } = useLingui();
  const mayReplay = useMay()("ModifySettings") && endpoint.enabled;
  const control = useListState();
  const pageSize = usePageSize(TABLE);
  const [replaying, setReplaying] = useState(false);
  const state = control.filter("state");
  const deliveries = useApiPage(
    "/m/core/webhooks/{endpoint_id}/deliveries",
    {
      path: { endpoint_id: endpoint.endpoint_id },
      query: {
        limit: pageSize,
        offset: (control.state.page - 1) * pageSize,
        ...(state !== "" && { state }),
      },
    },
    {
      refetchInterval: ({ state: { data } }) =>
        data?.data.some((each) => each.state === "waiting") ? POLL_MILLISECONDS : false,
    },
  );
  return (
    <>
      <ServerTable<Delivery>
        id={TABLE}
        title={t`Deliveries`}
        embedded
        description={t`A failed event is sent again, up to ten times within three days.`}
        columns={useColumns(endpoint, mayReplay)}
        rows={deliveries.data?.data}
        total={deliveries.data?.total}
        readAll={deliveries.readAll}
        control={control}
        loading={deliveries.isLoading}
        error={deliveries.error}
        retry={() => deliveries.refetch()}
        rowId={(delivery) => delivery.delivery_id}
        filters={<StateFilter control={control} />}
        narrowing={["state"]}
        actions={
          mayReplay && (
            <Button onClick={() => setReplaying(true)}>
              <Trans>Send failed ones again</Trans>
            </Button>
          )
        }
        empty={<Trans>Nothing was sent to this endpoint yet.</Trans>}
      />
      {replaying && (
        <ReplayFailedDialog endpointId={endpoint.endpoint_id} onEnd={() => setReplaying(false)} />
      )}
    </>
  );
}

function StateFilter({ control }: { control: ListControl }) {
  const { t } = useLingui();
  const texts = useDeliveryStates();
  return (
    <SegmentedControl
      label={t`State`}
      selectedId={control.filter("state") || "all"}
      options={[
        { id: "all", text: t`All` },
        ...Object.entries(texts).map(([id, text]) => ({ id, text })),
      ]}
      onChange={({ detail }) =>
        control.setFilter("state", detail.selectedId === "all" ? "" : detail.selectedId)
      }
    />
  );
}

function useColumns(endpoint: WebhookEndpoint, mayReplay: boolean): Column<Delivery>[] {
  const { t } = useLingui();
  const { language } = useLanguage();
  const eventText = useEventText();
  const states = useDeliveryStates();
  const resultText = useResultText();
  const showTime = (time: string | null) => (time === null ? "–" : formatTime(time, language));
  const replay: Column<Delivery> = {
    id: "replay",
    header: t`Action`,
    width: 140,
    cell: (row) => <ReplayButton endpoint={endpoint} delivery={row} />,
    csv: () => "",
  };
  return [
    {
      id: "time",
      header: t`Time`,
      alwaysVisible: true,
      width: 180,
      cell: (row) => showTime(row.event_time),
      csv: (row) => row.event_time,
    },
    {
      id: "event",
      header: t`Event`,
      width: 220,
      cell: (row) => eventText(row.event_type),
      csv: (row) => row.event_type,
    },
    {
      id: "state",
      header: t`State`,
      width: 130,
      cell: (row) => <DeliveryState delivery={row} />,
      csv: (row) => states[row.state],
    },
    {
      id: "result",
      header: t`Last result`,
      width: 215,
      cell: resultText,
      csv: resultText,
    },
    {
      id: "attempts",
      header: t`Attempts`,
      width: 128,
      numeric: true,
      cell: (row) => formatNumber(row.attempts, language),
      csv: (row) => String(row.attempts),
    },
    {
      id: "next",
      header: t`Next attempt`,
      width: 180,
      cell: (row) => showTime(row.next_attempt_time),
      csv: (row) => row.next_attempt_time ?? "",
    },
    {
      id: "object",
      header: t`Object`,
      width: 300,
      hiddenAtFirst: true,
      cell: (row) => row.object,
      csv: (row) => row.object,
    },
    {
      id: "event_id",
      header: t`Event id`,
      width: 300,
      hiddenAtFirst: true,
      cell: (row) => row.event_id,
      csv: (row) => row.event_id,
    },
    ...(mayReplay ? [replay] : []),
  ];
}

interface ReplayButtonProps {
  endpoint: WebhookEndpoint;
  delivery: Delivery;
}

function ReplayButton({ endpoint, delivery }: ReplayButtonProps) {
  const { t } = useLingui();
  const { language } = useLanguage();
  const eventText = useEventText();
  const { notify, notifyError } = useNotifications();
  const replay = useChange(
    (client) =>
      client.post("/m/core/webhooks/{endpoint_id}/deliveries/{delivery_id}/replay", {
        path: { endpoint_id: endpoint.endpoint_id, delivery_id: delivery.delivery_id },
      }),
    {
      onSuccess: () => notify({ type: "success", content: t`The event is being sent again.` }),
      onError: notifyError,
    },
  );
  const event = eventText(delivery.event_type);
  const time = formatTime(delivery.event_time, language);
  return (
    <Button
      variant="inline-link"
      ariaLabel={t`Send again: ${event}, ${time}`}
      loading={replay.isPending}
      onClick={() => replay.mutate(undefined)}
    >
      <Trans>Send again</Trans>
    </Button>
  );
}
