// Tests of lists that the browser searches, sorts and pages.
import assert from "node:assert/strict";
import { test } from "node:test";
import { selectRows } from "./browser-list.ts";

const STATE = { page: 1, search: "", sort: "", descending: false };
const ROWS = ["beta", "Alpha", "gamma"];
const text = (row: string) => ({ name: row });

test("a search finds a text in any letter case", () => {
  const found = selectRows(ROWS, { ...STATE, search: "ALPH" }, 10, text);
  assert.deepEqual(found.rows, ["Alpha"]);
  assert.equal(found.total, 1);
});

test("a descending order is reversed", () => {
  const found = selectRows(ROWS, { ...STATE, sort: "name", descending: true }, 10, text);
  assert.deepEqual(found.rows, ["gamma", "beta", "Alpha"]);
});

test("the total and the file have the rows of all pages", async () => {
  const found = selectRows(ROWS, { ...STATE, page: 2 }, 2, text);
  assert.deepEqual(found.rows, ["gamma"]);
  assert.equal(found.total, 3);
  const all = await found.readAll(() => {}, new AbortController().signal);
  assert.deepEqual(all, { rows: ROWS, complete: true });
});
