// Tests of invented passwords.
import assert from "node:assert/strict";
import { test } from "node:test";
import { inventPassword, isPassword } from "./password.ts";

test("an invented password keeps the rules and is different each time", () => {
  const passwords = new Set(Array.from({ length: 50 }, inventPassword));
  assert.equal(passwords.size, 50);
  for (const password of passwords) assert.ok(isPassword(password));
});

test("a password has 8 to 18 characters", () => {
  assert.ok(!isPassword("1234567"));
  assert.ok(isPassword("𠮷234567𠮷"));
  assert.ok(!isPassword("1234567890123456789"));
});
