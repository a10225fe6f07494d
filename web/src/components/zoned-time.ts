// Times in the time zone of the organisation, which may differ from that of the browser.

const DATE = /^\d{4}-\d{2}-\d{2}$/;
const TIME = /^\d{2}:\d{2}$/;

export interface ClockTime {
  /** 2026-09-30 */
  date: string;
  /** 09:00 */
  time: string;
}

/** What a clock of the zone shows. */
export function readClock(instant: Date, timeZone: string): ClockTime {
  // Swedish is written as ISO 8601.
  const format = new Intl.DateTimeFormat("sv-SE", {
    timeZone,
    dateStyle: "short",
    timeStyle: "short",
  });
  const [date = "", time = ""] = format.format(instant).split(" ");
  return { date, time };
}

/** The instant at which a clock of the zone shows this; undefined if it is incomplete or no date. */
export function findInstant({ date, time }: ClockTime, timeZone: string): string | undefined {
  if (!DATE.test(date) || !TIME.test(time)) return undefined;
  const wanted = Date.parse(`${date}T${time}Z`);
  if (Number.isNaN(wanted)) return undefined;
  let instant = wanted;
  // Twice, because the first correction may cross a change to or from summer time.
  for (let step = 0; step < 2; step += 1) {
    const shown = readClock(new Date(instant), timeZone);
    instant += wanted - Date.parse(`${shown.date}T${shown.time}Z`);
  }
  const found = new Date(instant);
  return readClock(found, timeZone).date === date ? found.toISOString() : undefined;
}
