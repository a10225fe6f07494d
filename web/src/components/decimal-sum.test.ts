import assert from "node:assert/strict";
import { test } from "node:test";
import { addDecimals } from "./decimal-sum.ts";

test("decimals are added exactly", () => {
  assert.equal(addDecimals(["0.1", "0.2"]), "0.3");
  assert.equal(addDecimals(["9007199254740993", 1, "0.05"]), "9007199254740994.05");
});

test("signs and different numbers of decimals are respected", () => {
  assert.equal(addDecimals(["-0.5", "0.25"]), "-0.25");
  assert.equal(addDecimals(["-1.10", "1.1"]), "0.00");
  assert.equal(addDecimals([-3, "2.999"]), "-0.001");
});

test("nothing adds up to zero", () => {
  assert.equal(addDecimals([]), "0");
});
