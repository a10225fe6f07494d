// Tests of sorting what is reviewed.
import assert from "node:assert/strict";
import { test } from "node:test";
import { readReview } from "./review.ts";

test("changed settings have both values", () => {
  const { changes, values } = readReview({
    changes: [{ field: "rounding", before: "half_up", after: "down" }],
    version_before: "0f",
  });

  assert.deepEqual(changes, [{ path: ["rounding"], before: "half_up", after: "down" }]);
  assert.deepEqual(values, []);
});

test("a removed list is empty afterwards", () => {
  const { changes } = readReview({
    changes: [{ field: "approval_required", before: ["rates"], after: [] }],
  });

  assert.deepEqual(changes, [{ path: ["approval_required"], before: ["rates"], after: [] }]);
});

test("of a template only the fields that differ are shown", () => {
  const { changes } = readReview({
    before: { name: "Standard", bank_account: "First 1" },
    after: { name: "Standard", bank_account: "Second 2", notes: null },
  });

  assert.deepEqual(changes, [{ path: ["bank_account"], before: "First 1", after: "Second 2" }]);
});

test("a new template has no values before", () => {
  const { changes } = readReview({ before: null, after: { name: "Standard" } });

  assert.deepEqual(changes, [{ path: ["name"], before: "", after: "Standard" }]);
});

test("invoices are a list of their own", () => {
  const invoice = {
    invoice_no: "202609-0001",
    company_id: "cmp_1",
    revision: 1,
    currency: "jpy",
    total: 100,
  };
  const { invoices, values } = readReview({ month: "2026-09", invoices: [invoice] });

  assert.deepEqual(invoices, [invoice]);
  assert.deepEqual(values, [{ path: ["month"], text: "2026-09" }]);
});

test("what replaces an invoice shows its amounts and no hash", () => {
  const { changes, values } = readReview({
    operation: "replacement",
    invoice_no: "202609-0001",
    changes: [{ field: "total", before: 190472, after: 180448 }],
    digest: "0f",
  });

  assert.deepEqual(changes, [{ path: ["total"], before: "190,472", after: "180,448" }]);
  assert.deepEqual(values, [{ path: ["invoice_no"], text: "202609-0001" }]);
});
