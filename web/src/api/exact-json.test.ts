import assert from "node:assert/strict";
import { test } from "node:test";
import { exactNumber, isDecimalNumber, parseExact } from "./exact-json.ts";

test("amounts keep every digit", () => {
  const text = '{"a": 12345678901234567890.123456789, "b": 0.1, "c": 1e3, "d": 42, "e": -7}';
  assert.deepEqual(parseExact(text), {
    a: "12345678901234567890.123456789",
    b: "0.1",
    c: "1e3",
    d: 42,
    e: -7,
  });
});

test("an integer beyond the safe range is returned as its digits", () => {
  assert.equal(parseExact("9007199254740993"), "9007199254740993");
});

test("digits are sent as a number", () => {
  const body = JSON.stringify({ rate: exactNumber("155.20"), count: 3 });
  assert.equal(body, '{"rate":155.20,"count":3}');
});

test("what is not a plain decimal number is refused", () => {
  for (const text of ["", "1,000", "1e3", "0x10", "１５５", "--1", "1.", ".5"]) {
    assert.equal(isDecimalNumber(text), false, text);
    assert.throws(() => exactNumber(text), RangeError);
  }
  assert.equal(isDecimalNumber(" -0.50 "), true);
});
