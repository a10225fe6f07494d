// What blocks the steps of a month, each said once.
import type { components } from "../../../api/schema.ts";

type Blocker = components["schemas"]["StepBlocker"];
type Step = components["schemas"]["MonthStep"];

/** The reasons that the console explains one by one; all others are differences. */
const EXPLAINED: ReadonlySet<string> = new Set([
  "no_costs",
  "import_parked",
  "import_running",
  "drift_uncorrected",
  "account_in_no_group",
  "entry_undecided",
  "run_in_progress",
  "settings_missing",
  "rate_missing",
  "no_invoices",
  "invoice_missing",
  "invoices_outdated",
  "month_not_over",
  "month_closed",
]);

/** Differences between invoices and costs have one sentence, so they become one blocker. */
export function mergeBlockers(blockers: readonly Blocker[]): Blocker[] {
  const merged = new Map<string, Blocker>();
  for (const blocker of blockers) {
    const key = EXPLAINED.has(blocker.reason) ? blocker.reason : "difference";
    const earlier = merged.get(key);
    const subjects = [...new Set([...(earlier?.subjects ?? []), ...blocker.subjects])];
    merged.set(key, { ...(earlier ?? blocker), subjects, count: subjects.length || 1 });
  }
  return [...merged.values()];
}

/** The blockers of a step that no earlier step shows. */
export function listNewBlockers(steps: readonly Step[], step: Step): Blocker[] {
  const earlier = listEarlier(steps, step);
  return mergeBlockers(step.blockers).filter(
    (blocker) => !earlier.some((each) => shows(each, blocker)),
  );
}

/** The earlier steps that show what blocks this one; each blocker is shown by the first of them. */
export function listBlockingSteps(steps: readonly Step[], step: Step): Step["step"][] {
  const earlier = listEarlier(steps, step);
  const first = mergeBlockers(step.blockers).map((blocker) =>
    earlier.find((each) => shows(each, blocker)),
  );
  return earlier.filter((each) => first.includes(each)).map((each) => each.step);
}

function listEarlier(steps: readonly Step[], step: Step): Step[] {
  return steps.slice(0, steps.indexOf(step)).filter(({ state }) => state !== "not_needed");
}

function shows({ blockers }: Step, { reason, subjects }: Blocker): boolean {
  return mergeBlockers(blockers).some(
    (shown) =>
      shown.reason === reason && subjects.every((subject) => shown.subjects.includes(subject)),
  );
}

/** The customers whose invoice has to be created again; none while others have no invoice. */
export function listChangedGroups({ steps }: { steps: readonly Step[] }): string[] {
  const blockers = steps.find(({ step }) => step === "created")?.blockers ?? [];
  const isChange = ({ reason }: Blocker) =>
    reason === "invoices_outdated" || !EXPLAINED.has(reason);
  if (!blockers.every(isChange)) return [];
  return [...new Set(blockers.flatMap(({ subjects }) => subjects))];
}
