// What the kinds and states of approvals are called.
import type { StatusIndicatorProps } from "@cloudscape-design/components/status-indicator";
import { useLingui } from "@lingui/react/macro";
import type { components } from "../../../api/schema.ts";

export type ShortApproval = components["schemas"]["ShortApproval"];
export type Approval = components["schemas"]["Approval"];
export type ApprovalKind = ShortApproval["kind"];
export type ApprovalState = ShortApproval["state"];

export const STATE_INDICATORS: Record<ApprovalState, StatusIndicatorProps.Type> = {
  requested: "pending",
  approved: "success",
  rejected: "error",
  withdrawn: "stopped",
  expired: "stopped",
  outdated: "warning",
};

export function useApprovalKinds(): Record<ApprovalKind, string> {
  const { t } = useLingui();
  return {
    invoice_issue: t`Sending invoices`,
    credit_note: t`Credit notes, replacing and cancelling invoices`,
    month_close: t`Closing a month`,
    month_reopen: t`Reopening a month`,
    import_release: t`Releasing an import on hold`,
    rates: t`Exchange rates`,
    settings: t`Settings of the organisation`,
    bank_details: t`Invoice templates with bank account`,
  };
}

/** What one request is about; a kind can have several operations. */
export function useApprovalTitle(): (approval: ShortApproval) => string {
  const { t } = useLingui();
  const kinds = useApprovalKinds();
  const operations: Record<string, string> = {
    replacement: t`Replacing an invoice`,
    cancellation: t`Cancelling an invoice`,
  };
  return ({ kind, target }) => {
    if (kind !== "credit_note") return kinds[kind];
    if (target.import_id !== undefined) return t`Settling late costs`;
    return operations[target.operation ?? ""] ?? t`Credit note`;
  };
}

export function useApprovalStates(): Record<ApprovalState, string> {
  const { t } = useLingui();
  return {
    requested: t`Pending`,
    approved: t`Approved and done`,
    rejected: t`Rejected`,
    withdrawn: t`Withdrawn`,
    expired: t`Expired`,
    outdated: t`Outdated: something has changed`,
  };
}
