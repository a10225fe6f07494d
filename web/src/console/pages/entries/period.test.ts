// Tests of the time that an entry is about.
import assert from "node:assert/strict";
import { test } from "node:test";
import { formatPeriod } from "./period.ts";

test("an hour is shown as its day", () => {
  const interval = "2026-09-01T00:00:00Z/2026-09-01T01:00:00Z";
  assert.equal(formatPeriod(interval, "en"), "Sep 1, 2026");
});

test("a month ends with its last day", () => {
  const interval = "2026-09-01T00:00:00Z/2026-10-01T00:00:00Z";
  assert.match(formatPeriod(interval, "en"), /Sep 1.*30, 2026/);
});

test("a text that is no interval stays as it is", () => {
  assert.equal(formatPeriod("yearly", "en"), "yearly");
});
