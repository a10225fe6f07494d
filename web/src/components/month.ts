// Months as the API writes them, 2026-09, and as people read them.

export function formatMonth(month: string, language: string): string {
  const [year, number] = month.split("-").map(Number);
  if (!year || !number) return month;
  const options = { year: "numeric", month: "long", timeZone: "UTC" } as const;
  return new Intl.DateTimeFormat(language, options).format(Date.UTC(year, number - 1, 1));
}

export function shiftMonth(month: string, count: number): string {
  const [year = 0, number = 1] = month.split("-").map(Number);
  const date = new Date(Date.UTC(year, number - 1 + count, 1));
  return date.toISOString().slice(0, 7);
}

/** The present month where the person is. */
export function currentMonth(now = new Date()): string {
  return `${now.getFullYear()}-${String(now.getMonth() + 1).padStart(2, "0")}`;
}

/** The present day where the person is, as the API writes it. */
export function currentDay(now = new Date()): string {
  return `${currentMonth(now)}-${String(now.getDate()).padStart(2, "0")}`;
}

/** Where the time zone is not given, it is that of the browser. English hours have no AM and PM. */
export function formatTime(time: string, language: string, timeZone?: string): string {
  const options = { dateStyle: "medium", timeStyle: "short", hourCycle: "h23", timeZone } as const;
  return new Intl.DateTimeFormat(language, options).format(new Date(time));
}

/** A day as the API writes it, 2026-09-30. */
export function formatDate(date: string, language: string): string {
  const options = { dateStyle: "medium", timeZone: "UTC" } as const;
  return new Intl.DateTimeFormat(language, options).format(new Date(`${date}T00:00:00Z`));
}
