import assert from "node:assert/strict";
import { test } from "node:test";
import { findNextStep } from "./next-step.ts";

type Steps = Parameters<typeof findNextStep>[0];

const build = (states: Record<string, string>) =>
  Object.entries(states).map(([step, state]) => ({
    step,
    state,
    blockers: [],
    done_by: null,
    done_time: null,
  })) as unknown as Steps;

test("the first unfinished step comes next", () => {
  const steps = build({ arrived: "done", placed: "ready", decided: "ready", created: "ready" });
  assert.equal(findNextStep(steps), "placed");
});

test("accounts and entries come before sending, also after invoices were created", () => {
  const steps = build({ placed: "ready", decided: "ready", created: "done", sent: "ready" });
  assert.equal(findNextStep(steps), "placed");
});

test("invoices that differ from the costs are looked at before they are sent", () => {
  const steps = build({ created: "done", checked: "blocked", sent: "ready", closed: "blocked" });
  assert.equal(findNextStep(steps), "checked");
});

test("in a closed month only what is still possible comes next", () => {
  const steps = build({ placed: "blocked", created: "done", sent: "ready", closed: "done" });
  assert.equal(findNextStep(steps), "sent");
  assert.equal(findNextStep(build({ sent: "done", closed: "done" })), undefined);
});
