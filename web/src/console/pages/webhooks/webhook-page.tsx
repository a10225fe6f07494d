// One webhook endpoint: what it receives, and what became of each event.
import Button from "@cloudscape-design/components/button";
import Container from "@cloudscape-design/components/container";
import ContentLayout from "@cloudscape-design/components/content-layout";
import Header from "@cloudscape-design/components/header";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { useParams } from "react-router";
import { useApi, useChange } from "../../../api/queries.ts";
import { formatTime } from "../../../components/month.ts";
import { useNotifications } from "../../../components/notifications.tsx";
import { PageTitle } from "../../../components/page-title.tsx";
import { QueryState } from "../../../components/query-state.tsx";
import { RouterLink } from "../../../components/router-link.tsx";
import { useLanguage } from "../../../language/language.tsx";
import { AuditLink } from "../../audit-link.tsx";
import { useMay } from "../../me.ts";
import { DeleteEndpointDialog } from "./delete-endpoint-dialog.tsx";
import { DeliveriesTable } from "./deliveries-table.tsx";
import { EndpointDialog } from "./endpoint-dialog.tsx";
import { EndpointState } from "./endpoint-state.tsx";
import { useEventText, type WebhookEndpoint } from "./event-texts.ts";
import { RotateSecretDialog } from "./rotate-secret-dialog.tsx";

export default function WebhookPage() {
  const { t } = useLingui();
  const { id = "" } = useParams();
  const endpoint = useApi("/m/core/webhooks/{endpoint_id}", { path: { endpoint_id: id } });
  return (
    <ContentLayout
      header={
        <Header
          variant="h1"
          actions={
            <SpaceBetween direction="horizontal" size="m">
              <AuditLink search={id} />
              <RouterLink to="/webhooks">
                <Trans>All endpoints</Trans>
              </RouterLink>
            </SpaceBetween>
          }
        >
          {t`Webhook endpoint`}
        </Header>
      }
    >
      <PageTitle title={t`Webhook endpoint`} />
      <QueryState query={endpoint}>
        {(loaded) => (
          <SpaceBetween size="l">
            <Facts endpoint={loaded} />
            <DeliveriesTable endpoint={loaded} />
          </SpaceBetween>
        )}
      </QueryState>
    </ContentLayout>
  );
}

function Facts({ endpoint }: { endpoint: WebhookEndpoint }) {
  const { t } = useLingui();
  const { language } = useLanguage();
  const eventText = useEventText();
  const { description, event_types, previous_secret_until: until } = endpoint;
  return (
    <Container
      header={
        <Header variant="h2" actions={<EndpointActions endpoint={endpoint} />}>
          {t`Endpoint`}
        </Header>
      }
    >
      <KeyValuePairs
        columns={2}
        items={[
          { label: t`URL`, value: endpoint.url },
          { label: t`State`, value: <EndpointState endpoint={endpoint} /> },
          { label: t`Purpose`, value: description || "–" },
          {
            label: t`Events`,
            value:
              event_types.length === 0 ? t`All events` : event_types.map(eventText).join(" / "),
          },
          { label: t`Creation time`, value: formatTime(endpoint.create_time, language) },
          {
            label: t`The secret before is valid until`,
            value: until === null ? "–" : formatTime(until, language),
          },
        ]}
      />
    </Container>
  );
}

function EndpointActions({ endpoint }: { endpoint: WebhookEndpoint }) {
  const { t } = useLingui();
  const { notify, notifyError } = useNotifications();
  const mayChange = useMay()("ModifySettings");
  const [open, setOpen] = useState<"edit" | "rotate" | "delete">();
  const end = () => setOpen(undefined);
  const test = useChange(
    (client) =>
      client.post("/m/core/webhooks/{endpoint_id}/test", {
        path: { endpoint_id: endpoint.endpoint_id },
      }),
    {
      onSuccess: () => notify({ type: "success", content: t`A test event is being sent.` }),
      onError: notifyError,
    },
  );
  if (!mayChange) return null;
  return (
    <>
      <SpaceBetween direction="horizontal" size="xs">
        <Button
          loading={test.isPending}
          disabled={!endpoint.enabled}
          onClick={() => test.mutate(undefined)}
        >
          <Trans>Send a test event</Trans>
        </Button>
        <Button onClick={() => setOpen("rotate")}>
          <Trans>Create a new secret</Trans>
        </Button>
        <Button onClick={() => setOpen("edit")}>
          <Trans>Edit</Trans>
        </Button>
        <Button onClick={() => setOpen("delete")}>
          <Trans>Delete</Trans>
        </Button>
      </SpaceBetween>
      {open === "edit" && <EndpointDialog endpoint={endpoint} onEnd={end} />}
      {open === "rotate" && <RotateSecretDialog endpointId={endpoint.endpoint_id} onEnd={end} />}
      {open === "delete" && <DeleteEndpointDialog endpoint={endpoint} onEnd={end} />}
    </>
  );
}
