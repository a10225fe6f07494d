// Tests of the form of the settings.
import assert from "node:assert/strict";
import { test } from "node:test";
import { buildChange, findBadNumbers, readForm, type Settings } from "./settings-form.ts";

const SETTINGS = {
  rounding: "half_up",
  usage_table: [
    { upto: 5000, rate: "0.05" },
    { upto: null, rate: "0.02" },
  ],
  time_zone: "Asia/Tokyo",
  vendors: ["aws"],
  check_change_limit: "0.3",
  check_margin_limit: "-0.05",
} as Settings;

test("an unchanged form sends nothing", () => {
  assert.deepEqual(buildChange(readForm(SETTINGS), readForm(SETTINGS)), {});
});

test("percentages and negative limits are exact", () => {
  const form = readForm(SETTINGS);
  assert.equal(form.marginLimit, "-5");
  const change = buildChange({ ...form, marginLimit: "-7.5", changeLimit: "25" }, form);
  const sent = '{"check_change_limit":0.25,"check_margin_limit":-0.075}';
  assert.equal(JSON.stringify(change), sent);
});

test("the last band has no limit", () => {
  const form = readForm(SETTINGS);
  const bands = [{ upto: "7000", percent: "4.5" }, ...form.bands.slice(1)];
  const change = buildChange({ ...form, bands }, form);
  const sent = '{"usage_table":[{"upto":7000,"rate":0.045},{"upto":null,"rate":0.02}]}';
  assert.equal(JSON.stringify(change), sent);
});

test("required second factors are sent as they are switched", () => {
  const form = readForm(SETTINGS);
  assert.deepEqual(buildChange({ ...form, staffFactor: true }, form), {
    staff_needs_second_factor: true,
  });
  const required = { ...form, customerFactor: true };
  assert.deepEqual(buildChange(form, required), { customers_need_second_factor: false });
});

test("customers see payments if this is switched on", () => {
  const form = readForm(SETTINGS);
  const change = buildChange({ ...form, portalPayments: true }, form);
  assert.deepEqual(change, { portal_shows_payments: true });
});

test("a text that is no number is found", () => {
  const form = readForm(SETTINGS);
  const bad = { ...form, changeLimit: "30%", bands: [{ upto: "", percent: "x" }] };
  assert.deepEqual(findBadNumbers(bad), ["bands", "changeLimit"]);
});
