import assert from "node:assert/strict";
import { test } from "node:test";
import { computeStretch } from "./column-widths.ts";

const PLAIN = { widths: [100, 300], selectable: false, embedded: false };

test("columns share the width that is left over", () => {
  assert.equal(computeStretch(820, PLAIN), 2);
});

test("columns never become narrower than they ask for", () => {
  assert.equal(computeStretch(300, PLAIN), 1);
  assert.equal(computeStretch(0, PLAIN), 1);
});

test("checkboxes, a scrollbar and the edges of a container take their width first", () => {
  assert.equal(computeStretch(914, { ...PLAIN, selectable: true, embedded: true }), 2);
});

test("a table without columns asks for nothing", () => {
  assert.equal(computeStretch(800, { ...PLAIN, widths: [] }), 1);
});
