import assert from "node:assert/strict";
import { test } from "node:test";
import {
  findInvalidFields,
  type InvoiceSetting,
  NEW_TERMS,
  readTerms,
  type SupportFeeTarget,
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
const TARGET: SupportFeeTarget = { usage: "nondiscount", scope: null };

test("terms that were created are written in the words of an update", () => {
  const written = writeTerms(readTerms(CREATED, TARGET, "stated")).invoices;
  assert.equal(written.substitution_fee_target_usage, "discounted");
  assert.equal(written.substitution_fee_calc_target, "cloudpaywithfee");
  assert.equal(written.support_fee_calc_target, "cloudpayonly");
  assert.equal(JSON.stringify(written.discount_rate), "0.05");
  assert.equal(JSON.stringify(written.tax_rate), "0.1");
});

test("both parts of the base of the support fee are read and written", () => {
  const target: SupportFeeTarget = { usage: "discounted", scope: "cloudpaywithfee" };
  for (const mode of ["stated", "either"] as const) {
    const written = writeTerms(readTerms(CREATED, target, mode));
    assert.deepEqual(written.support_fee_target, target);
    assert.equal(written.invoices.support_fee_calc_target, "cloudpaywithfee");
  }
});

test("a scope that nobody has set is the one that counts", () => {
  assert.equal(readTerms(CREATED, TARGET, "either").supportScope, "cloudpayonly");
  const setting: InvoiceSetting = { ...CREATED, support_amount_target: "cloudpayonlywithfee" };
  assert.equal(readTerms(setting, TARGET, "either").supportScope, "cloudpaywithfee");
});

test("a fee of 0 % is no fee", () => {
  const terms = readTerms({ ...CREATED, substitution_rate: 0 }, TARGET, "either");
  assert.equal(terms.agency, "none");
  assert.equal(JSON.stringify(writeTerms(terms).invoices.substitution_rate), "0");
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
