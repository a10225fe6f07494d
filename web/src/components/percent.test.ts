import assert from "node:assert/strict";
import { test } from "node:test";
import { fromPercent, toPercent } from "./percent.ts";

test("shares become percentages without calculating", () => {
  assert.equal(toPercent("0.055"), "5.5");
  assert.equal(toPercent("0.10"), "10");
  assert.equal(toPercent(1), "100");
  assert.equal(toPercent(0), "0");
  assert.equal(toPercent("0.0000000000000000001"), "0.00000000000000001");
});

test("percentages become shares without calculating", () => {
  assert.equal(fromPercent("5.5"), "0.055");
  assert.equal(fromPercent("10"), "0.1");
  assert.equal(fromPercent("100"), "1");
  assert.equal(fromPercent("0"), "0");
  assert.equal(fromPercent("7.50"), "0.075");
});

test("what is not a plain number has no share", () => {
  for (const text of ["", "5%", "-1", "1,5", "．5", "1."])
    assert.equal(fromPercent(text), undefined);
});
