import assert from "node:assert/strict";
import { test } from "node:test";
import { findInstant, readClock } from "./zoned-time.ts";

test("a clock of the zone is read and found again", () => {
  const instant = "2026-09-30T23:30:00.000Z";
  const shown = readClock(new Date(instant), "Asia/Tokyo");
  assert.deepEqual(shown, { date: "2026-10-01", time: "08:30" });
  assert.equal(findInstant(shown, "Asia/Tokyo"), instant);
});

test("summer time is respected on both sides of its change", () => {
  const zone = "Europe/Berlin";
  assert.equal(
    findInstant({ date: "2026-03-28", time: "12:00" }, zone),
    "2026-03-28T11:00:00.000Z",
  );
  assert.equal(
    findInstant({ date: "2026-03-29", time: "12:00" }, zone),
    "2026-03-29T10:00:00.000Z",
  );
  assert.equal(
    findInstant({ date: "2026-10-25", time: "00:30" }, zone),
    "2026-10-24T22:30:00.000Z",
  );
});

test("what is incomplete or no date has no instant", () => {
  assert.equal(findInstant({ date: "2026-1", time: "09:00" }, "Asia/Tokyo"), undefined);
  assert.equal(findInstant({ date: "2026-10-01", time: "9" }, "Asia/Tokyo"), undefined);
  assert.equal(findInstant({ date: "2026-02-31", time: "09:00" }, "Asia/Tokyo"), undefined);
});
