// Searches, sorts and pages a short list that the service returns whole.
import type { ReadAllRows } from "../api/all-rows.ts";
import type { ListState } from "./list-state.ts";

export function selectRows<T>(
  rows: readonly T[] | undefined,
  state: ListState,
  pageSize: number,
  /** The text of a row by the name of the column. */
  text: (row: T) => Record<string, string>,
): { rows: T[] | undefined; total: number | undefined; readAll: ReadAllRows<T> } {
  if (rows === undefined) return { rows: undefined, total: undefined, readAll: haveAll([]) };
  const wanted = state.search.toLowerCase();
  const found = rows.filter((row) =>
    Object.values(text(row)).some((value) => value.toLowerCase().includes(wanted)),
  );
  if (state.sort !== "") {
    const direction = state.descending ? -1 : 1;
    const value = (row: T) => text(row)[state.sort] ?? "";
    found.sort((a, b) => direction * value(a).localeCompare(value(b)));
  }
  const first = (state.page - 1) * pageSize;
  return {
    rows: found.slice(first, first + pageSize),
    total: found.length,
    readAll: haveAll(found),
  };
}

/** The rows of all pages of a list that the browser holds. */
export function haveAll<T>(rows: readonly T[]): ReadAllRows<T> {
  return async () => ({ rows, complete: true });
}
