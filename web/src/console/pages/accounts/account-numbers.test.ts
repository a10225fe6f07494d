// Tests of the numbers of accounts.
import assert from "node:assert/strict";
import { test } from "node:test";
import { numberProblem } from "./account-numbers.ts";

test("an AWS account has 12 digits", () => {
  assert.equal(numberProblem("aws", "customer_id", "012345678901"), undefined);
  assert.equal(numberProblem("aws", "account_id", "12345678901"), "digits12");
});

test("an Azure subscription has 16 to 36 characters, and its payer 7 digits", () => {
  const subscription = "5b0c3f4e-8a53-4c1d-9d42-3f1f0a6be9c7";
  assert.equal(numberProblem("azure", "customer_id", subscription), undefined);
  assert.equal(numberProblem("azure", "customer_id", "a/b"), "subscription");
  assert.equal(numberProblem("azure", "account_id", "8611537"), undefined);
});

test("another vendor's number has no slash and no bar", () => {
  assert.equal(numberProblem("gcp", "customer_id", "my-project-1"), undefined);
  assert.equal(numberProblem("gcp", "customer_id", "a|b"), "other");
});
