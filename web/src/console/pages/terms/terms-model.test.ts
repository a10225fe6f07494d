import assert from "node:assert/strict";
import { test } from "node:test";
import {
  findInvalidFields,
  type InvoiceSetting,
  NEW_TERMS,
  readTerms,
  writeTerms,
} from "./terms-model.ts";

const CREATED: InvoiceSetting = {
  calc_type: "account",
  currency: "jpy",
  discount_calc_logic: "usageamount",
  discount_rate: "0.05",
  discount_target_usage: "cloudpaywithfee",
  substitution_fee: "percent",
  substitution_fee_calc_target: "discounted",
  substitution_fee_calc_type: "allsum",
  substitution_fee_target_usage: "cloudpaywithfee",
  substitution_fix: 0,
  substitution_rate: "0.03",
  support_amount_target: "allusage",
  support_fee: "aws_business",
  support_fee_calc_target: "nondiscount",
  support_fix: 0,
  support_rate: 0,
  tax_rate: "0.10",
};

test("terms that were created are written in the words of an update", () => {
  const written = writeTerms(readTerms(CREATED, "stated"));
  assert.equal(written.substitution_fee_target_usage, "discounted");
  assert.equal(written.substitution_fee_calc_target, "cloudpaywithfee");
  assert.equal(written.support_fee_calc_target, "cloudpayonly");
  assert.equal(JSON.stringify(written.discount_rate), "0.05");
  assert.equal(JSON.stringify(written.tax_rate), "0.1");
});

test("an organisation that accepts both words keeps the stored one", () => {
  assert.equal(readTerms(CREATED, "either").supportBase, "nondiscount");
});

test("a fee of 0 % is no fee", () => {
  const terms = readTerms({ ...CREATED, substitution_rate: 0 }, "either");
  assert.equal(terms.agency, "none");
  assert.equal(JSON.stringify(writeTerms(terms).substitution_rate), "0");
});

test("fields are checked where they matter", () => {
  const form = { ...NEW_TERMS, agencyRate: "x", supportRate: "101", discount: "" };
  assert.deepEqual(findInvalidFields(form), ["discount"]);
  assert.deepEqual(findInvalidFields({ ...form, agency: "percent", support: "percent" }), [
    "discount",
    "agencyRate",
    "supportRate",
  ]);
});
