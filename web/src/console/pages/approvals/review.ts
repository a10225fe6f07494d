// Sorts what is reviewed into changed values, invoices and other values.
import { listValues, type RecordedValue } from "../audit/entry-values.ts";

export interface ReviewedInvoice {
  invoice_no: string;
  company_id: string;
  billinggroup_name?: string;
  revision: number;
  currency: string;
  total: number | string;
}

export interface ReviewedChange {
  path: string[];
  before: string | string[];
  after: string | string[];
}

export interface SortedReview {
  changes: ReviewedChange[];
  invoices: ReviewedInvoice[];
  values: RecordedValue[];
}

type Review = Record<string, unknown>;

/** Hashes say nothing to people; the service compares them. The operation is part of the title. */
const HIDDEN = new Set(["version_before", "digest", "operation"]);

export function readReview(review: Review): SortedReview {
  const { changes, before, after, invoices, ...others } = review;
  return {
    changes: Array.isArray(changes)
      ? changes.flatMap(({ field, before, after }) => pair([field], before, after))
      : after === undefined
        ? []
        : comparePlain((before ?? {}) as Review, after as Review),
    invoices: Array.isArray(invoices) ? (invoices as ReviewedInvoice[]) : [],
    values: listValues(
      Object.fromEntries(Object.entries(others).filter(([name]) => !HIDDEN.has(name))),
    ),
  };
}

function comparePlain(before: Review, after: Review): ReviewedChange[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names
    .flatMap((name) => pair([name], before[name], after[name]))
    .filter((change) => String(change.before) !== String(change.after));
}

/** A value that is an object is shown part by part. */
function pair(path: string[], before: unknown, after: unknown): ReviewedChange[] {
  const old = new Map(listValues(before, path).map((value) => [value.path.join("\n"), value]));
  const now = new Map(listValues(after, path).map((value) => [value.path.join("\n"), value]));
  const names = [...new Set([...old.keys(), ...now.keys()])];
  if (names.length === 0) return [];
  return names.map((name) => ({
    path: name.split("\n"),
    before: old.get(name)?.text ?? "",
    after: now.get(name)?.text ?? "",
  }));
}
