// Chooses the month that the console opens with.

interface ListedMonth {
  month: string;
  state: string;
  provisional: boolean;
}

/**
 * The oldest month to close: it is over, open, and later than the newest closed month. Without one,
 * the oldest month that is over and open, or else the newest month. Months are listed newest first.
 */
export function chooseMonth<Listed extends ListedMonth>(
  months: readonly Listed[],
): Listed | undefined {
  const closed = months.find(({ state }) => state === "closed")?.month ?? "";
  const due = months.filter(({ state, provisional }) => state !== "closed" && !provisional);
  const next = due.filter(({ month }) => month >= closed);
  const oldest = (next.at(-1) ?? due.at(-1))?.month;
  return due.find(({ month }) => month === oldest) ?? months[0];
}
