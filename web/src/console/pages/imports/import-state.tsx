// The state of an import in words, and what it does while it runs.
import StatusIndicator, {
  type StatusIndicatorProps,
} from "@cloudscape-design/components/status-indicator";
import { useLingui } from "@lingui/react/macro";
import type { components } from "../../../api/schema.ts";
import { formatNumber } from "../../../components/amount-format.ts";
import { useLanguage } from "../../../language/language.tsx";

export type ImportRecord = components["schemas"]["ImportRecord"];
type State = ImportRecord["state"];

const INDICATORS: Record<State, StatusIndicatorProps.Type> = {
  waiting: "pending",
  running: "in-progress",
  done: "success",
  unchanged: "success",
  refused: "error",
  parked: "warning",
  drift: "warning",
  failed: "error",
};

export function isUnfinished(record: { state: State }): boolean {
  return record.state === "waiting" || record.state === "running";
}

export function useStateTexts(): Record<State, string> {
  const { t } = useLingui();
  return {
    waiting: t`Waiting`,
    running: t`Running`,
    done: t`Imported`,
    unchanged: t`Nothing new`,
    refused: t`Refused`,
    parked: t`On hold`,
    drift: t`Differs from a closed month`,
    failed: t`Failed`,
  };
}

export function ImportState({ record }: { record: ImportRecord }) {
  const texts = useStateTexts();
  const progress = useProgressText();
  return (
    <StatusIndicator type={INDICATORS[record.state]}>
      {record.state === "running" ? progress(record) : texts[record.state]}
    </StatusIndicator>
  );
}

/** What a running import does at the moment. */
export function useProgressText(): (record: ImportRecord) => string {
  const { t } = useLingui();
  const { language } = useLanguage();
  return ({ progress }) => {
    const lines = typeof progress.lines === "number" ? formatNumber(progress.lines, language) : "0";
    switch (progress.step) {
      case "fetching":
        return t`Collecting the files`;
      case "reading":
        return t`Reading, ${lines} lines so far`;
      case "checking":
        return t`Reading again to check ${lines} lines`;
      case "summing":
        return t`Adding up ${lines} lines`;
      default:
        return t`Running`;
    }
  };
}
