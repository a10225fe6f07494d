import assert from "node:assert/strict";
import { test } from "node:test";
import { currentDay, currentMonth, formatMonth, formatTime, shiftMonth } from "./month.ts";

test("months are named in the language", () => {
  assert.equal(formatMonth("2026-09", "ja"), "2026年9月");
  assert.equal(formatMonth("2026-09", "en"), "September 2026");
});

test("a time is written as in its zone, in hours of the day", () => {
  const time = "2026-09-30T13:30:00Z";
  assert.equal(formatTime(time, "ja", "Asia/Tokyo"), "2026/09/30 22:30");
  assert.equal(formatTime(time, "en", "Asia/Tokyo"), "Sep 30, 2026, 22:30");
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
