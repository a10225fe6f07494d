// What became of a delivery, and why an attempt failed.
import StatusIndicator, {
  type StatusIndicatorProps,
} from "@cloudscape-design/components/status-indicator";
import { useLingui } from "@lingui/react/macro";
import type { components } from "../../../api/schema.ts";

export type Delivery = components["schemas"]["WebhookDelivery"];
export type DeliveryStateName = Delivery["state"];

const INDICATORS: Record<DeliveryStateName, StatusIndicatorProps.Type> = {
  waiting: "pending",
  delivered: "success",
  failed: "error",
};

export function useDeliveryStates(): Record<DeliveryStateName, string> {
  const { t } = useLingui();
  return { waiting: t`Waiting`, delivered: t`Delivered`, failed: t`Failed` };
}

export function DeliveryState({ delivery }: { delivery: Delivery }) {
  const texts = useDeliveryStates();
  return (
    <StatusIndicator type={INDICATORS[delivery.state]}>{texts[delivery.state]}</StatusIndicator>
  );
}

/** The answer to the last attempt, or why there was none. */
export function useResultText(): (delivery: Delivery) => string {
  const { t } = useLingui();
  return ({ last_error, last_status }) => {
    switch (last_error) {
      case null:
        return last_status === null ? "–" : t`Answered ${last_status}`;
      case "status":
        return t`Answered ${last_status}`;
      case "redirect":
        return t`Answered ${last_status}; redirects are not followed`;
      case "gone":
        return t`Answered 410, so the endpoint was disabled`;
      case "timeout":
        return t`No answer within 20 seconds`;
      case "connection":
        return t`No connection`;
      case "tls":
        return t`The certificate is not valid`;
      case "dns":
        return t`The name is unknown`;
      case "address_refused":
        return t`The address is not public`;
      case "endpoint_disabled":
        return t`The endpoint was disabled`;
    }
  };
}
