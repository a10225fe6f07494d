// Which columns and how many rows a table shows, kept in the browser for each table.
import { useState } from "react";

export interface TablePreferences {
  pageSize: number;
  wrapLines: boolean;
  visible: readonly string[];
}

export function usePreferences(
  table: string,
  columns: readonly string[],
): [TablePreferences, (chosen: TablePreferences) => void] {
  const key = `nimbill-table-${table}`;
  const [preferences, setPreferences] = useState<TablePreferences>(() => {
    const defaults = { pageSize: 50, wrapLines: true, visible: columns };
    try {
      return { ...defaults, ...JSON.parse(localStorage.getItem(key) ?? "{}") };
    } catch {
      return defaults;
    }
  });
  return [
    preferences,
    (chosen) => {
      localStorage.setItem(key, JSON.stringify(chosen));
      setPreferences(chosen);
    },
  ];
}
