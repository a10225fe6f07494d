import assert from "node:assert/strict";
import { test } from "node:test";
import { ROWS_MAX, ROWS_PER_REQUEST, readInParts } from "./all-rows.ts";

const SIGNAL = new AbortController().signal;

/** A list of so many numbers. */
function listOf(total: number) {
  return readInParts(async (limit, offset) =>
    Array.from({ length: Math.max(0, Math.min(limit, total - offset)) }, (_, i) => offset + i),
  );
}

test("every row is read once, and each request is reported", async () => {
  const total = 2 * ROWS_PER_REQUEST + 1;
  const reported: number[] = [];

  const { rows, complete } = await listOf(total)((read) => reported.push(read), SIGNAL);

  assert.deepEqual(
    rows,
    Array.from({ length: total }, (_, i) => i),
  );
  assert.equal(complete, true);
  assert.deepEqual(reported, [ROWS_PER_REQUEST, 2 * ROWS_PER_REQUEST, total]);
});

test("a list that ends with a full part is complete", async () => {
  const { rows, complete } = await listOf(ROWS_PER_REQUEST)(() => {}, SIGNAL);

  assert.equal(rows.length, ROWS_PER_REQUEST);
  assert.equal(complete, true);
});

test("reading stops at the limit and says that rows are left", async () => {
  const { rows, complete } = await listOf(ROWS_MAX + 1)(() => {}, SIGNAL);

  assert.equal(rows.length, ROWS_MAX);
  assert.equal(complete, false);
});
