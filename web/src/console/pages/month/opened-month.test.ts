import assert from "node:assert/strict";
import { test } from "node:test";
import { chooseMonth } from "./opened-month.ts";

const month = (name: string, state = "open", provisional = false) => ({
  month: name,
  state,
  provisional,
});

test("the oldest month that is over and follows the closed ones is opened", () => {
  const months = [month("2026-11", "open", true), month("2026-10"), month("2026-09")];
  assert.equal(chooseMonth([...months, month("2026-08", "closed")])?.month, "2026-09");
});

test("open months before the newest closed month do not hide the month to close", () => {
  const months = [month("2026-09"), month("2026-08", "closed"), month("2026-07")];
  assert.equal(chooseMonth(months)?.month, "2026-09");
});

test("one vendor's closed month leads to that of the other vendor", () => {
  const months = [{ ...month("2026-09", "closed") }, { ...month("2026-09") }, month("2026-08")];
  assert.deepEqual(chooseMonth(months), months[1]);
});

test("an open month of the past is opened when no other is due", () => {
  const months = [month("2026-09", "open", true), month("2026-08", "closed"), month("2026-07")];
  assert.equal(chooseMonth(months)?.month, "2026-07");
});

test("the newest month is opened when none is due", () => {
  const months = [month("2026-09", "open", true), month("2026-08", "closed")];
  assert.equal(chooseMonth(months)?.month, "2026-09");
});

test("an empty organisation has no month to open", () => {
  assert.equal(chooseMonth([]), undefined);
});
