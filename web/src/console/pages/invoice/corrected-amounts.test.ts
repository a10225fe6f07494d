import assert from "node:assert/strict";
import { test } from "node:test";
import { listCorrectedAmounts, listTaxRates, type Sheet, subtract } from "./corrected-amounts.ts";

function buildSheet(parts: Partial<Sheet>): Sheet {
  const empty = { lines: [], entries: [], items: [], support: null, agency: null };
  const sums = { tax_rate: "0.10", taxable: 0, tax: 0, tax_free: 0 };
  return { ...empty, ...sums, ...parts } as Sheet;
}

function buildLine(service: string, after: number): Sheet["lines"][number] {
  const line = { customer_id: "1", customer_name: "one", tag: "", marketplace: false };
  return { ...line, service, after } as Sheet["lines"][number];
}

test("amounts that differ, appear or vanish are listed; equal ones are not", () => {
  const invoice = buildSheet({
    lines: [buildLine("EC2", 100), buildLine("S3", 5), buildLine("RDS", 7)],
    support: { charge: 10, after: 10 } as Sheet["support"],
  });
  const corrected = buildSheet({
    lines: [buildLine("EC2", 90), buildLine("S3", 5), buildLine("SQS", 2)],
  });
  assert.deepEqual(
    listCorrectedAmounts(invoice, corrected).map(({ kind, name, before, after, difference }) => [
      kind,
      name,
      before,
      after,
      difference,
    ]),
    [
      ["usage", "EC2", 100, 90, "-10"],
      ["usage", "SQS", null, 2, "2"],
      ["usage", "RDS", 7, null, "-7"],
      ["support", "", 10, null, "-10"],
    ],
  );
});

test("another tax rate is a row of its own, and so is what is not subject to tax", () => {
  const rates = listTaxRates(
    buildSheet({ taxable: 1000, tax: 100, tax_free: 50 }),
    buildSheet({ tax_rate: "0.08", taxable: 1000, tax: 80 }),
  );
  assert.deepEqual(
    rates.map(({ tax_rate, difference, difference_tax }) => [tax_rate, difference, difference_tax]),
    [
      ["0.10", "-1000", "-100"],
      [null, "-50", "0"],
      ["0.08", "1000", "80"],
    ],
  );
});

test("subtracting a negative amount adds it", () => {
  assert.equal(subtract("1.5", "-0.25"), "1.75");
});
