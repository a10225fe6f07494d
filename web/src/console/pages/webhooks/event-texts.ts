// What the types of events are called, by the part of the work that they belong to.
import { useLingui } from "@lingui/react/macro";
import type { components } from "../../../api/schema.ts";

export type WebhookEndpoint = components["schemas"]["WebhookEndpoint"];
export type EventType = WebhookEndpoint["event_types"][number];
const TEST_EVENT = "webhook.test";

export function useEventTexts(): Record<EventType, string> {
  const { t } = useLingui();
  return {
    "import.committed": t`Costs imported`,
    "import.parked": t`Import on hold`,
    "import.drift": t`Costs of a closed month differ`,
    "import.failed": t`Import refused or failed`,
    "invoice_run.finished": t`Creation of invoices finished`,
    "invoice.created": t`Invoice created`,
    "invoice.sent": t`Invoice sent`,
    "invoice.cancelled": t`Invoice cancelled`,
    "credit_note.issued": t`Credit note issued`,
    "month.closed": t`Month closed`,
    "month.reopened": t`Month reopened`,
    "approval.requested": t`Approval requested`,
    "approval.approved": t`Request approved`,
    "approval.rejected": t`Request rejected`,
    "approval.withdrawn": t`Request withdrawn`,
    "approval.expired": t`Request expired`,
    "approval.outdated": t`Request outdated`,
    "budget.alert": t`Threshold of a budget reached`,
  };
}

/** The name of a type; one that has none is shown as the service writes it. */
export function useEventText(): (type: string) => string {
  const { t } = useLingui();
  const texts: Record<string, string> = useEventTexts();
  return (type) => (type === TEST_EVENT ? t`Test event` : (texts[type] ?? type));
}
