import assert from "node:assert/strict";
import { test } from "node:test";
import {
  listBlockingSteps,
  listChangedGroups,
  listNewBlockers,
  mergeBlockers,
} from "./shown-blockers.ts";

const blocker = (reason: string, ...subjects: string[]) => ({
  reason,
  subjects,
  count: subjects.length || 1,
  text: "",
  link: "",
});

const step = (name: "rates" | "created" | "checked" | "closed", ...blockers: object[]) =>
  ({ step: name, state: "blocked", blockers, done_by: null, done_time: null }) as Parameters<
    typeof listNewBlockers
  >[1];

test("differences of several kinds become one line", () => {
  const merged = mergeBlockers([
    blocker("invoice_missing", "a"),
    blocker("amount_differs", "a", "b"),
    blocker("not_on_invoice", "b", "c"),
  ]);
  assert.deepEqual(
    merged.map(({ reason, subjects, count }) => [reason, subjects, count]),
    [
      ["invoice_missing", ["a"], 1],
      ["amount_differs", ["a", "b", "c"], 3],
    ],
  );
});

test("a reason without records counts once", () => {
  assert.equal(mergeBlockers([blocker("month_not_over")])[0]?.count, 1);
});

test("what an earlier step shows is not shown again", () => {
  const checked = step("checked", blocker("amount_differs", "a"), blocker("not_in_costs", "a"));
  const closed = step(
    "closed",
    blocker("month_not_over"),
    blocker("amount_differs", "a"),
    blocker("not_in_costs", "a"),
  );
  const steps = [checked, closed];
  assert.equal(listNewBlockers(steps, checked).length, 1);
  assert.deepEqual(
    listNewBlockers(steps, closed).map(({ reason }) => reason),
    ["month_not_over"],
  );
});

test("the same reason with other records is shown", () => {
  const rates = step("rates", blocker("rate_missing", "a"));
  const created = step("created", blocker("rate_missing", "b"));
  assert.equal(listNewBlockers([rates, created], created).length, 1);
});

test("a step names the earlier steps that show what blocks it", () => {
  const rates = step("rates", blocker("rate_missing", "a"));
  const created = step("created", blocker("no_invoices"), blocker("rate_missing", "a"));
  const closed = step("closed", blocker("no_invoices"), blocker("rate_missing", "a"));
  const steps = [rates, created, closed];
  assert.deepEqual(listBlockingSteps(steps, closed), ["rates", "created"]);
  assert.deepEqual(listBlockingSteps(steps, created), ["rates"]);
});

test("only invoices that would change are created again, unless one is missing", () => {
  const outdated = blocker("invoices_outdated", "a", "b");
  const differs = blocker("amount_differs", "b", "c");
  const missing = blocker("invoice_missing", "d");
  assert.deepEqual(listChangedGroups({ steps: [step("created", outdated, differs)] }), [
    "a",
    "b",
    "c",
  ]);
  assert.deepEqual(listChangedGroups({ steps: [step("created", outdated, missing)] }), []);
  assert.deepEqual(listChangedGroups({ steps: [step("created")] }), []);
});
