// What keeps an invoice from being mailed, and what became of a mail.
import type { StatusIndicatorProps } from "@cloudscape-design/components/status-indicator";
import { useLingui } from "@lingui/react/macro";
import type { components } from "../../../api/schema.ts";

export type Delivery = components["schemas"]["InvoiceDelivery"];
export type PreviewedMail = components["schemas"]["PreviewedMail"];
type Problem = PreviewedMail["problems"][number];

export const STATE_INDICATORS: Record<Delivery["state"], StatusIndicatorProps.Type> = {
  queued: "pending",
  sending: "in-progress",
  delivered: "success",
  failed: "error",
  unknown: "warning",
};

export function useDeliveryTexts() {
  const { t } = useLingui();
  const states: Record<Delivery["state"], string> = {
    queued: t`Waiting`,
    sending: t`Being sent`,
    delivered: t`Delivered`,
    failed: t`Failed`,
    unknown: t`Outcome unknown`,
  };
  const problems: Record<Problem, string> = {
    cancelled: t`The invoice is cancelled.`,
    already_sent: t`Sent already`,
    mail_in_progress: t`A mail is on its way.`,
    revision_changed: t`The invoice was created again in the meantime.`,
    outdated: t`To be created again`,
    not_approved: t`Not approved yet`,
    no_contact: t`No contact receives invoices.`,
    no_portal_login: t`Nobody of the customer can see invoices in the portal.`,
  };
  return { states, problems };
}

/** The people as one text: those of To, then those of Cc. */
export function listRecipients(recipients: readonly components["schemas"]["Recipient"][]): string {
  const name = (kind: string) =>
    recipients
      .filter(({ send_as }) => send_as === kind)
      .map(({ email }) => email)
      .join(", ");
  const copies = name("cc");
  return copies === "" ? name("to") : `${name("to")} (Cc: ${copies})`;
}
