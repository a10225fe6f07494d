import assert from "node:assert/strict";
import { test } from "node:test";
import { currentDay, currentMonth, formatMonth, shiftMonth } from "./month.ts";

test("months are named in the language", () => {
  assert.equal(formatMonth("2026-09", "ja"), "2026年9月");
  assert.equal(formatMonth("2026-09", "en"), "September 2026");
});

test("months shift across the year", () => {
  assert.equal(shiftMonth("2026-01", -1), "2025-12");
  assert.equal(shiftMonth("2026-12", 1), "2027-01");
});

test("the present month is the person's own", () => {
  assert.equal(currentMonth(new Date(2026, 0, 31, 23, 59)), "2026-01");
});

test("the present day is that of the person", () => {
  assert.equal(currentDay(new Date(2026, 0, 9, 23, 59)), "2026-01-09");
});
