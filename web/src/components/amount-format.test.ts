import assert from "node:assert/strict";
import { test } from "node:test";
import {
  countFractionDigits,
  formatAmount,
  formatExact,
  formatPercent,
  formatRate,
  isNegative,
  isZero,
  plusSign,
} from "./amount-format.ts";

test("yen have no decimals and dollars have two", () => {
  assert.equal(formatAmount("1234567.4", "JPY", "ja"), "¥1,234,567");
  assert.equal(formatAmount("1234.565", "USD", "en"), "$1,234.57");
});

test("large amounts are written exactly", () => {
  assert.equal(formatAmount("9007199254740993", "JPY", "en"), "¥9,007,199,254,740,993");
  assert.equal(
    formatExact("-12345678901234567890.10", "USD"),
    "-12,345,678,901,234,567,890.10 USD",
  );
});

test("exact amounts of a column have their points below each other", () => {
  const amounts = ["1250", "0.5", "-3.125"];
  const digits = Math.max(...amounts.map(countFractionDigits));
  assert.deepEqual(
    amounts.map((amount) => formatExact(amount, null, digits)),
    ["1,250.000", "0.500", "-3.125"],
  );
});

test("a code that is not a currency is written behind the number", () => {
  assert.equal(formatAmount(5, "points", "en"), "5 points");
});

test("shares are percentages", () => {
  assert.equal(formatPercent("0.055", "en"), "5.5%");
});

test("rates in a column have one decimal", () => {
  assert.equal(formatRate("0.02", "ja"), "2.0%");
  assert.equal(formatRate("-0.0194", "ja"), "−1.9%");
});

test("only a difference that is more has a plus sign", () => {
  assert.deepEqual(["5", "0.00", "-5"].map(plusSign), ["+", "", ""]);
});

test("signs and zeros are read from the digits", () => {
  assert.equal(isNegative("-0.01"), true);
  assert.equal(isZero("-0.000"), true);
  assert.equal(isZero("0.001"), false);
});
