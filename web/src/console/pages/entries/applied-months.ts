// Finds the month to which each entry is applied; the record of an entry does not name it.
import { useQueries } from "@tanstack/react-query";
import { useClient } from "../../../api/queries.ts";
import { useKnownMonths } from "../../choices.tsx";

const PATH = "/m/core/billinggroup/recalculation/{month}";

/** The list of a month has its own entries and those applied to it. An applied entry that a later
 * month lists as well is applied to that month; every other one to the month that is shown. */
export function useAppliedMonths(month: string, vendor: string): (entryId: string) => string {
  const client = useClient();
  const later = useKnownMonths().filter((known) => known > month);
  return useQueries({
    queries: later.map((other) => ({
      queryKey: [PATH, { month: other }, { vendor, applied: true }],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        client.get(PATH, { path: { month: other }, query: { vendor, applied: true }, signal }),
    })),
    combine: (lists) => {
      const months = new Map<string, string>();
      for (const [index, list] of lists.entries())
        for (const entry of list.data ?? []) months.set(entry.id, later[index] ?? month);
      return (entryId: string) => months.get(entryId) ?? month;
    },
  });
}
