// Puts the amounts of several months side by side, without calculating.
import type { Decimal } from "../../api/exact-json.ts";

/** A row of a usage report. */
export interface UsageRow {
  month: string;
  vendor: string;
  /** What the report is by: an account, a group or the values of tags. */
  id: string;
  name: string;
  service: string;
  marketplace: boolean;
  currency: string;
  amount: Decimal;
}

export interface ComparedRow extends Omit<UsageRow, "month" | "amount"> {
  key: string;
  amounts: Record<string, Decimal>;
}

/** One row for each account, service and currency, with the amount of each month. */
export function compareMonths(rows: readonly UsageRow[]): ComparedRow[] {
  const compared = new Map<string, ComparedRow>();
  for (const { month, amount, ...rest } of rows) {
    const key = JSON.stringify([
      rest.vendor,
      rest.id,
      rest.service,
      rest.marketplace,
      rest.currency,
    ]);
    const row = compared.get(key) ?? { ...rest, key, amounts: {} };
    row.amounts[month] = amount;
    compared.set(key, row);
  }
  return [...compared.values()];
}
