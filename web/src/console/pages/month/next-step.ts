// Which step of a month comes next.
import type { components } from "../../../api/schema.ts";

type Step = components["schemas"]["MonthStep"];

/** The first step that is not finished; its action is the main one of the page. */
export function findNextStep(steps: readonly Step[]): Step["step"] | undefined {
  const closed = steps.some((step) => step.step === "closed" && step.state === "done");
  // In a closed month, what is blocked would need reopening it.
  const open = closed ? ["ready"] : ["ready", "blocked"];
  return steps.find(({ state }) => open.includes(state))?.step;
}
