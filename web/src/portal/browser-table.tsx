// A table whose rows the service returns whole: searched, sorted and paged here.
import Box from "@cloudscape-design/components/box";
import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { ApiError } from "../api/client.ts";
import { haveAll } from "../components/browser-list.ts";
import { type ListControl, useListState } from "../components/list-state.ts";
import { type Column, ServerTable, usePageSize } from "../components/server-table.tsx";

interface BrowserTableProps<T> {
  id: string;
  title: string;
  embedded?: boolean;
  description?: ReactNode;
  columns: readonly Column<T>[];
  rows: readonly T[] | undefined;
  query: Pick<UseQueryResult<unknown, ApiError>, "isFetching" | "error" | "refetch">;
  rowId: (row: T) => string;
  searchLabel: string;
  /** The order of the rows until the person chooses another one, with a minus sign for descending. */
  order?: string;
  actions?: ReactNode;
  filters?: ReactNode;
  empty: string;
  /** Receives all rows that the search has found. */
  footer?: (found: readonly T[]) => ReactNode;
}

export function BrowserTable<T>({
  rows,
  query,
  order = "",
  footer,
  ...props
}: BrowserTableProps<T>) {
  const control = useListState(order.replace(/^-/, ""), order.startsWith("-"));
  const found = selectRows(rows, props.columns, control);
  const pageSize = usePageSize(props.id);
  const first = (control.state.page - 1) * pageSize;
  return (
    <ServerTable<T>
      {...props}
      rows={found?.slice(first, first + pageSize)}
      total={found?.length}
      readAll={haveAll(found ?? [])}
      control={control}
      loading={query.isFetching}
      error={query.error}
      retry={() => query.refetch()}
      {...(footer && found && { footer: footer(found) })}
      empty={<Box color="text-body-secondary">{props.empty}</Box>}
    />
  );
}

/** Amounts are compared as binary numbers, which is exact enough for an order. */
function selectRows<T>(
  rows: readonly T[] | undefined,
  columns: readonly Column<T>[],
  { state }: ListControl,
): T[] | undefined {
  const wanted = state.search.toLowerCase();
  const found = rows?.filter((row) =>
    columns.some((column) => column.csv(row).toLowerCase().includes(wanted)),
  );
  const sorted = columns.find((column) => column.sort === state.sort);
  if (sorted === undefined) return found;
  const direction = state.descending ? -1 : 1;
  return found?.sort((a, b) => {
    const [left, right] = [sorted.csv(a), sorted.csv(b)];
    return direction * (sorted.numeric ? Number(left) - Number(right) : left.localeCompare(right));
  });
}
