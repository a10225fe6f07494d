// What differs between two calculations of an invoice.
import type { Decimal } from "../../../api/exact-json.ts";
import type { components } from "../../../api/schema.ts";
import { isZero } from "../../../components/amount-format.ts";
import { addDecimals } from "../../../components/decimal-sum.ts";

export type Sheet = components["schemas"]["InvoiceSheet"];

export interface CorrectedAmount {
  key: string;
  /** A fee has no name of its own. */
  kind: "usage" | "support" | "agency" | "entry" | "item";
  name: string;
  owner: string;
  before: Decimal | null;
  after: Decimal | null;
  difference: Decimal;
}

export interface CorrectedTaxRate {
  /** Null for what is not subject to tax. */
  tax_rate: Decimal | null;
  invoiced: Decimal;
  invoiced_tax: Decimal;
  credited: Decimal;
  credited_tax: Decimal;
  corrected: Decimal;
  corrected_tax: Decimal;
  difference: Decimal;
  difference_tax: Decimal;
}

type Amount = Omit<CorrectedAmount, "before" | "after" | "difference"> & { amount: Decimal };

export function subtract(value: Decimal, other: Decimal): Decimal {
  const text = String(other);
  return addDecimals([value, text.startsWith("-") ? text.slice(1) : `-${text}`]);
}

/** The printed amounts that differ, in the order of the corrected invoice. */
export function listCorrectedAmounts(invoice: Sheet, corrected: Sheet): CorrectedAmount[] {
  const before = new Map(listAmounts(invoice).map((each) => [each.key, each]));
  const after = new Map(listAmounts(corrected).map((each) => [each.key, each]));
  return [...new Set([...after.keys(), ...before.keys()])].flatMap((key) => {
    const [was, is] = [before.get(key), after.get(key)];
    const named = is ?? was;
    if (named === undefined) return [];
    const { amount: _, ...rest } = named;
    const difference = subtract(is?.amount ?? 0, was?.amount ?? 0);
    if (isZero(difference)) return [];
    return [{ ...rest, before: was?.amount ?? null, after: is?.amount ?? null, difference }];
  });
}

function listAmounts(sheet: Sheet): Amount[] {
  const fee = (kind: "support" | "agency") => {
    const found = sheet[kind];
    return found === null ? [] : [{ key: kind, kind, name: "", owner: "", amount: found.after }];
  };
  return [
    ...sheet.lines.map((line) => ({
      key: ["usage", line.customer_id, line.tag, line.service, line.marketplace].join("|"),
      kind: "usage" as const,
      // The service leaves out the products of a line that has none.
      name: line.products?.join(", ") || line.service,
      owner: line.tag || line.customer_name || line.customer_id,
      amount: line.after,
    })),
    ...fee("support"),
    ...fee("agency"),
    ...sheet.entries.map((entry) => ({
      key: `entry|${entry.entry_id}`,
      kind: "entry" as const,
      name: entry.description,
      owner: entry.customer_name || entry.customer_id,
      amount: entry.amount,
    })),
    ...sheet.items.map((item, index) => ({
      key: `item|${index}|${item.label}`,
      kind: "item" as const,
      name: item.label,
      owner: "",
      amount: item.total,
    })),
  ];
}

/** The sums by tax rate of an invoice without credit notes and of another calculation of it. */
export function listTaxRates(invoice: Sheet, corrected: Sheet): CorrectedTaxRate[] {
  const before = sumByRate(invoice);
  const after = sumByRate(corrected);
  return [...new Set([...before.keys(), ...after.keys()])].map((key) => {
    const was = before.get(key) ?? { amount: 0, tax: 0 };
    const is = after.get(key) ?? { amount: 0, tax: 0 };
    return {
      tax_rate: key === "" ? null : key,
      invoiced: was.amount,
      invoiced_tax: was.tax,
      credited: 0,
      credited_tax: 0,
      corrected: is.amount,
      corrected_tax: is.tax,
      difference: subtract(is.amount, was.amount),
      difference_tax: subtract(is.tax, was.tax),
    };
  });
}

function sumByRate(sheet: Sheet): Map<string, { amount: Decimal; tax: Decimal }> {
  const sums = new Map([[String(sheet.tax_rate), { amount: sheet.taxable, tax: sheet.tax }]]);
  if (!isZero(sheet.tax_free)) sums.set("", { amount: sheet.tax_free, tax: 0 });
  return sums;
}
