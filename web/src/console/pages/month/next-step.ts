// Which step of a month comes next.
import type { components } from "../../../api/schema.ts";

type Step = components["schemas"]["MonthStep"];

const FINISHED: readonly Step["state"][] = ["done", "not_needed"];
/** A month can be closed without them, so they come next only before invoices are created. */
const OPTIONAL: readonly Step["step"][] = ["placed", "decided"];

/** The first step that is not finished; its action is the main one of the page. */
export function findNextStep(steps: readonly Step[]): Step["step"] | undefined {
  const isFinished = ({ state }: Step) => FINISHED.includes(state);
  const created = steps.some((step) => step.step === "created" && isFinished(step));
  const closed = steps.some((step) => step.step === "closed" && step.state === "done");
  return steps.find((step) => {
    if (isFinished(step)) return false;
    if (closed) return step.state === "ready";
    return !(created && OPTIONAL.includes(step.step));
  })?.step;
}
