// Says why a run created no invoice for some billing groups.
import { plural } from "@lingui/core/macro";
import { useLingui } from "@lingui/react/macro";
import type { components } from "../../../api/schema.ts";
import { useRevisionTexts } from "./revision-texts.ts";

type SkippedGroup = components["schemas"]["SkippedGroup"];

/** A sentence for each reason; nothing, if every group has its invoice. */
export function useSkippedText(): (skipped: readonly SkippedGroup[]) => string {
  const { t } = useLingui();
  const revisionTexts = useRevisionTexts();
  const texts: Record<string, (count: number) => string> = {
    already_sent: revisionTexts.sent,
    no_accounts: (count) =>
      t`${plural(count, { one: "# customer has", other: "# customers have" })} no account of this vendor.`,
    settings_missing: (count) =>
      t`${plural(count, { one: "# customer has", other: "# customers have" })} no invoice terms of this vendor.`,
    rate_missing: (count) =>
      t`${plural(count, { one: "# customer has", other: "# customers have" })} no exchange rate for this month.`,
    month_parked: (count) =>
      t`${plural(count, { one: "# customer waits", other: "# customers wait" })} for an import that is on hold.`,
  };
  const others = (count: number) =>
    t`${plural(count, { one: "# customer", other: "# customers" })} could not be billed. The steps of the month say what is missing.`;
  return (skipped) =>
    [...Map.groupBy(skipped, ({ reason }) => (reason in texts ? reason : ""))]
      .map(([reason, groups]) => (texts[reason] ?? others)(groups.length))
      .join(" ");
}
