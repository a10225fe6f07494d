// The values that a change sent, and those that the log recorded before it.
import { formatExact } from "../../../components/amount-format.ts";

/** How many parts of a long list are shown. */
export const SHOWN_MAX = 5;

export interface Entry {
  seq: number;
  action: string;
  resource: string;
  sent: unknown;
}

/** A name for each value: the fields that lead to it. */
export interface RecordedValue {
  path: string[];
  text: string | string[];
}

/** A value before and after a change. */
export interface ChangedValue extends RecordedValue {
  before: string | string[] | undefined;
}

export function listValues(sent: unknown, path: string[] = []): RecordedValue[] {
  if (sent === null || sent === undefined || sent === "") return [];
  if (Array.isArray(sent)) {
    if (sent.every((part) => typeof part !== "object"))
      return [{ path, text: sent.map(writeValue) }];
    return sent.flatMap((part, index) => listValues(part, [...path, String(index + 1)]));
  }
  if (typeof sent === "object")
    return Object.entries(sent).flatMap(([name, value]) => listValues(value, [...path, name]));
  return [{ path, text: writeValue(sent) }];
}

/** Numbers get their thousands separated; ids of digits are texts, and those have no fraction. */
function writeValue(value: unknown): string {
  const text = String(value);
  return typeof value === "number" || /^-?\d+\.\d+$/.test(text) ? formatExact(text) : text;
}

/** `older` are entries about the same object, newest first. */
export function compareWithOlder(entry: Entry, older: readonly Entry[]): ChangedValue[] {
  const known = older.filter((each) => each.seq < entry.seq).map((each) => findPart(each, entry));
  return listValues(entry.sent).map((value) => {
    const name = value.path.join("\n");
    const before = known
      .flatMap((values) => values.filter((each) => each.path.join("\n") === name))
      .at(0);
    return { ...value, before: before?.text };
  });
}

/** The values of an older entry that mean the same as those of the entry. */
function findPart(older: Entry, entry: Entry): RecordedValue[] {
  if (older.resource === entry.resource) {
    const isOtherVendor = readVendor(older) !== readVendor(entry);
    return isOtherVendor ? [] : listValues(older.sent);
  }
  // Terms are changed vendor by vendor, but a new customer has those of all vendors.
  const vendor = readVendor(entry);
  if (entry.action !== "update_invoice_setting" || vendor === undefined) return [];
  const sent = older.sent as { invoices?: Record<string, unknown> } | null;
  return listValues(sent?.invoices?.[vendor], ["invoices"]);
}

/** The vendor that a change named, if it named one. */
export function readVendor(entry: Pick<Entry, "sent">): string | undefined {
  const sent = entry.sent as { vendor?: unknown } | null;
  return typeof sent?.vendor === "string" ? sent.vendor : undefined;
}

const CUSTOMERS_MAX = 20;

/** The ids of customers among the values that are shown. */
export function listCustomers(values: readonly ChangedValue[]): string[] {
  const texts = values.flatMap(({ path, text, before }) => [
    ...path,
    ...[text].flat().slice(0, SHOWN_MAX),
    ...[before ?? ""].flat().slice(0, SHOWN_MAX),
  ]);
  const ids = new Set(texts.filter((text) => text.startsWith("cmp_")));
  return [...ids].slice(0, CUSTOMERS_MAX);
}
