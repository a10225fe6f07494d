// Whether an endpoint receives events.
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import { Trans, useLingui } from "@lingui/react/macro";
import type { WebhookEndpoint } from "./event-texts.ts";

export function useEndpointStateText(): (endpoint: WebhookEndpoint) => string {
  const { t } = useLingui();
  return ({ enabled, disabled_reason }) => {
    if (enabled) return t`Enabled`;
    return disabled_reason === "gone" ? t`Disabled, because it answered 410` : t`Disabled`;
  };
}

export function EndpointState({ endpoint }: { endpoint: WebhookEndpoint }) {
  const text = useEndpointStateText();
  const disabled = endpoint.disabled_reason === null ? "stopped" : "error";
  return (
    <StatusIndicator type={endpoint.enabled ? "success" : disabled}>
      {text(endpoint)}
    </StatusIndicator>
  );
}

/** The number of event types that an endpoint wants. */
export function EventCount({ endpoint }: { endpoint: WebhookEndpoint }) {
  const count = endpoint.event_types.length;
  return count === 0 ? <Trans>All events</Trans> : <Trans>{count} types of events</Trans>;
}
