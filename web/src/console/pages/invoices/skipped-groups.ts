// Says why a run created no invoice for some billing groups.
import { useLingui } from "@lingui/react/macro";
import type { components } from "../../../api/schema.ts";

type SkippedGroup = components["schemas"]["SkippedGroup"];

/** A sentence for each reason; nothing, if every group has its invoice. */
export function useSkippedText(): (skipped: readonly SkippedGroup[]) => string {
  const { t } = useLingui();
  return (skipped) => {
    const sent = skipped.filter((group) => group.reason === "already_sent").length;
    const others = skipped.length - sent;
    const sentences = [
      sent > 0 && t`${sent} invoices were sent already and stay as they are.`,
      others > 0 && t`${others} billing groups had nothing to bill.`,
    ];
    return sentences.filter(Boolean).join(" ");
  };
}
