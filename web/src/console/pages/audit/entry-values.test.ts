// Tests of the values before and after a change.
import assert from "node:assert/strict";
import { test } from "node:test";
import { compareWithOlder, listValues } from "./entry-values.ts";

const RATE = { action: "save_exchange_rates", resource: "invoices/2026-09/exchangerate" };

test("nested values are named by the fields that lead to them", () => {
  assert.deepEqual(listValues({ a: { b: 1 }, c: ["x", "y"], d: [{ e: false }], f: null }), [
    { path: ["a", "b"], text: "1" },
    { path: ["c"], text: ["x", "y"] },
    { path: ["d", "1", "e"], text: "false" },
  ]);
});

test("numbers have separated thousands, ids of digits do not", () => {
  const sent = { amount: 1234567, cost: "-98765.4321", customer_id: "123456789012", list: [5000] };
  assert.deepEqual(
    listValues(sent).map(({ text }) => text),
    ["1,234,567", "-98,765.4321", "123456789012", ["5,000"]],
  );
});

test("the value before is the newest one of the same vendor", () => {
  const entry = { ...RATE, seq: 9, sent: { vendor: "aws", exchange_rate: "151" } };
  const older = [
    { ...RATE, seq: 8, sent: { vendor: "azure", exchange_rate: "140" } },
    { ...RATE, seq: 7, sent: { vendor: "aws", exchange_rate: "150" } },
    { ...RATE, seq: 6, sent: { vendor: "aws", exchange_rate: "149" } },
  ];
  const rate = compareWithOlder(entry, older).find(({ path }) => path[0] === "exchange_rate");
  assert.equal(rate?.before, "150");
});

test("terms are compared with those that the customer was created with", () => {
  const entry = {
    seq: 2,
    action: "update_invoice_setting",
    resource: "billinggroup/cmp_1/invoices/aws",
    sent: { vendor: "aws", invoices: { discount_rate: "0.1" } },
  };
  const created = {
    seq: 1,
    action: "create_billing_group",
    resource: "billinggroup/cmp_1",
    sent: { invoices: { aws: { discount_rate: "0.05" }, azure: { discount_rate: "0.02" } } },
  };
  const rate = compareWithOlder(entry, [created]).find(({ path }) => path[1] === "discount_rate");
  assert.equal(rate?.before, "0.05");
});
