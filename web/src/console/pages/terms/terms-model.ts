// The terms of a billing group as the form shows them, and as the API stores them.
import { exactNumber, isDecimalNumber } from "../../../api/exact-json.ts";
import type { components } from "../../../api/schema.ts";
import { fromPercent, toPercent } from "../../../components/percent.ts";

export type InvoiceSetting = components["schemas"]["InvoiceSetting"];
export type SupportFeeTarget = components["schemas"]["SupportFeeTarget"];
export type UpdateMode = "stated" | "either";
export type Basis = "nondiscount" | "discounted";
export type Scope = "cloudpayonly" | "cloudpaywithfee";

/** Rates are percentages and amounts are digits, as they are typed. */
export interface TermsForm {
  currency: InvoiceSetting["currency"];
  lines: InvoiceSetting["calc_type"];
  discount: string;
  discountsSupport: boolean;
  discountsAgency: boolean;
  agency: "none" | InvoiceSetting["substitution_fee"];
  agencyRate: string;
  agencyAmount: string;
  agencyBasis: Basis;
  agencyScope: Scope;
  agencyFor: InvoiceSetting["substitution_fee_calc_type"];
  support: "none" | InvoiceSetting["support_fee"];
  supportRate: string;
  supportAmount: string;
  supportUsage: InvoiceSetting["support_amount_target"];
  supportBasis: Basis;
  supportScope: Scope;
  tax: string;
}

export const NEW_TERMS: TermsForm = {
  currency: "jpy",
  lines: "account",
  discount: "0",
  discountsSupport: false,
  discountsAgency: false,
  agency: "none",
  agencyRate: "0",
  agencyAmount: "0",
  agencyBasis: "discounted",
  agencyScope: "cloudpayonly",
  agencyFor: "allsum",
  support: "none",
  supportRate: "0",
  supportAmount: "0",
  supportUsage: "allusage",
  supportBasis: "nondiscount",
  supportScope: "cloudpayonly",
  tax: "10",
};

/** The highest tax that a change of terms may name, in percent. */
export function highestTax(mode: UpdateMode): string {
  return mode === "either" ? "10" : "8";
}

export function readTerms(
  setting: InvoiceSetting | undefined,
  target: SupportFeeTarget | undefined,
  mode: UpdateMode,
): TermsForm {
  if (setting === undefined) return { ...NEW_TERMS, tax: highestTax(mode) };
  // Creating and updating a group write the two properties of the base into swapped fields.
  const base = [setting.substitution_fee_calc_target, setting.substitution_fee_target_usage];
  const agencyRate = toPercent(setting.substitution_rate);
  const supportRate = toPercent(setting.support_rate);
  return {
    currency: setting.currency,
    lines: setting.calc_type,
    discount: toPercent(setting.discount_rate),
    discountsSupport: setting.discount_target_usage === "cloudpaywithfee",
    discountsAgency: setting.discount_calc_logic === "allamount",
    agency: isNone(setting.substitution_fee, agencyRate) ? "none" : setting.substitution_fee,
    agencyRate,
    agencyAmount: String(setting.substitution_fix),
    agencyBasis: base.includes("discounted") ? "discounted" : "nondiscount",
    agencyScope: base.includes("cloudpaywithfee") ? "cloudpaywithfee" : "cloudpayonly",
    agencyFor: setting.substitution_fee_calc_type,
    support: isNone(setting.support_fee, supportRate) ? "none" : setting.support_fee,
    supportRate,
    supportAmount: String(setting.support_fix),
    supportUsage: setting.support_amount_target,
    supportBasis: target?.usage ?? "nondiscount",
    supportScope: target?.scope ?? impliedScope(setting),
    tax: toPercent(setting.tax_rate),
  };
}

function isNone(fee: string, rate: string): boolean {
  return fee === "percent" && rate === "0";
}

/** What counts as long as nobody has said whether one-off fees do. */
function impliedScope(setting: InvoiceSetting): Scope {
  return setting.support_amount_target === "allusage" ? "cloudpayonly" : "cloudpaywithfee";
}

export type TermsField =
  | "discount"
  | "agencyRate"
  | "agencyAmount"
  | "supportRate"
  | "supportAmount"
  | "tax";

/** The fields that matter for the chosen options and do not hold a number. */
export function findInvalidFields(form: TermsForm): TermsField[] {
  const used: [TermsField, boolean, (text: string) => boolean][] = [
    ["discount", true, isRate],
    ["agencyRate", ["percent", "automatic"].includes(form.agency), isRate],
    ["agencyAmount", ["fix", "automatic"].includes(form.agency), isAmount],
    ["supportRate", form.support === "percent", isRate],
    ["supportAmount", form.support === "fix", isAmount],
    ["tax", true, isRate],
  ];
  return used
    .filter(([field, matters, isValid]) => matters && !isValid(form[field]))
    .map(([field]) => field);
}

function isRate(text: string): boolean {
  const share = fromPercent(text);
  return share !== undefined && /^(0(\.\d+)?|1)$/.test(share);
}

function isAmount(text: string): boolean {
  return isDecimalNumber(text) && !text.trim().startsWith("-");
}

interface WrittenTerms {
  invoices: InvoiceSetting;
  support_fee_target: SupportFeeTarget;
}

/** The body that saves the terms, without the vendor. */
export function writeTerms(form: TermsForm): WrittenTerms {
  return {
    invoices: writeSetting(form),
    // The setting has one field for the two of them.
    support_fee_target: { usage: form.supportBasis, scope: form.supportScope },
  };
}

/** Fields that do not matter keep a value that the service accepts. */
function writeSetting(form: TermsForm): InvoiceSetting {
  const rate = (text: string) => exactNumber(isRate(text) ? (fromPercent(text) ?? "0") : "0");
  const amount = (text: string) => exactNumber(isAmount(text) ? text : "0");
  return {
    currency: form.currency,
    calc_type: form.lines,
    discount_rate: rate(form.discount),
    discount_target_usage: form.discountsSupport ? "cloudpaywithfee" : "cloudpayonly",
    discount_calc_logic: form.discountsAgency ? "allamount" : "usageamount",
    substitution_fee: form.agency === "none" ? "percent" : form.agency,
    substitution_rate: form.agency === "none" ? exactNumber("0") : rate(form.agencyRate),
    substitution_fix: amount(form.agencyAmount),
    substitution_fee_calc_target: form.agencyScope,
    substitution_fee_target_usage: form.agencyBasis,
    substitution_fee_calc_type: form.agencyFor,
    support_fee: form.support === "none" ? "percent" : form.support,
    support_rate: form.support === "none" ? exactNumber("0") : rate(form.supportRate),
    support_fix: amount(form.supportAmount),
    support_amount_target: form.supportUsage,
    support_fee_calc_target: form.supportScope,
    tax_rate: rate(form.tax),
  };
}
