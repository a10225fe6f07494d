// The time that an entry is about, as days.

/** The vendor writes two timestamps separated by a slash; the second is the first moment after. */
export function formatPeriod(interval: string, language: string): string {
  const [start = "", end = ""] = interval.split("/");
  const first = Date.parse(start);
  const last = Date.parse(end) - 1;
  if (Number.isNaN(first)) return interval;
  const options = { dateStyle: "medium", timeZone: "UTC" } as const;
  const format = new Intl.DateTimeFormat(language, options);
  return Number.isNaN(last) || last < first
    ? format.format(first)
    : format.formatRange(first, last);
}
