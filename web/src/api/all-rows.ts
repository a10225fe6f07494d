// Reads every row of a list that the service pages.

export const ROWS_PER_REQUEST = 1_000;
/** The most rows that are read: a spreadsheet opens a file of that size. */
export const ROWS_MAX = 100_000;

export interface AllRows<T> {
  rows: readonly T[];
  /** Whether the list has no more rows than these. */
  complete: boolean;
}

/** Told after each request how many rows have been read. */
export type ReportRows = (read: number) => void;
export type ReadAllRows<T> = (report: ReportRows, signal: AbortSignal) => Promise<AllRows<T>>;
type ReadPart<T> = (limit: number, offset: number, signal: AbortSignal) => Promise<readonly T[]>;

/** Returns a function that reads a list part by part, with what reads one part. */
export function readInParts<T>(readPart: ReadPart<T>): ReadAllRows<T> {
  return async (report, signal) => {
    const rows: T[] = [];
    for (;;) {
      const part = await readPart(ROWS_PER_REQUEST, rows.length, signal);
      rows.push(...part);
      report(rows.length);
      if (part.length < ROWS_PER_REQUEST) return { rows, complete: true };
      if (rows.length >= ROWS_MAX) return { rows, complete: false };
    }
  };
}
