import assert from "node:assert/strict";
import { test } from "node:test";
import { compareMonths, type UsageRow } from "./usage-rows.ts";

const ROW: UsageRow = {
  month: "2026-09",
  vendor: "aws",
  id: "222222222222",
  name: "web",
  service: "AmazonEC2",
  marketplace: false,
  currency: "JPY",
  amount: "10.000000000000000000001",
};

test("the amounts of two months are in one row, with every digit", () => {
  const [row, ...others] = compareMonths([ROW, { ...ROW, month: "2026-08", amount: 7 }]);

  assert.deepEqual(others, []);
  assert.deepEqual(row?.amounts, { "2026-09": "10.000000000000000000001", "2026-08": 7 });
});

test("another currency, service, vendor or account is another row", () => {
  const rows = compareMonths([
    ROW,
    { ...ROW, currency: "USD" },
    { ...ROW, service: "AmazonS3" },
    { ...ROW, vendor: "azure" },
    { ...ROW, id: "333333333333" },
    { ...ROW, marketplace: true },
  ]);

  assert.equal(rows.length, 6);
});
