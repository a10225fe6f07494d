// A table of a few rows, which needs neither pages nor order.
import Box from "@cloudscape-design/components/box";
import Table from "@cloudscape-design/components/table";
import type { ReactNode } from "react";
import { useIsNarrow } from "./narrow.ts";
import { type NarrowColumn, NarrowRows } from "./narrow-rows.tsx";

interface SmallTableProps<T> {
  label: string;
  items: readonly T[];
  columns: readonly (NarrowColumn<T> & { isRowHeader?: boolean })[];
  trackBy: string;
  header: ReactNode;
  empty: ReactNode;
  /** Inside another container, without a border of its own. */
  embedded?: boolean;
}

export function SmallTable<T>({
  label,
  columns,
  empty,
  embedded = false,
  ...props
}: SmallTableProps<T>) {
  const isNarrow = useIsNarrow();
  const whenEmpty = (
    <Box textAlign="center" color="text-body-secondary">
      {empty}
    </Box>
  );
  if (isNarrow)
    return (
      <NarrowRows<T>
        {...props}
        columns={columns}
        empty={whenEmpty}
        ariaLabels={{ cardsLabel: label, itemSelectionLabel: () => "", selectionGroupLabel: "" }}
      />
    );
  return (
    <Table<T>
      {...props}
      variant={embedded ? "embedded" : "container"}
      columnDefinitions={columns}
      empty={whenEmpty}
      wrapLines
      enableKeyboardNavigation
      ariaLabels={{ tableLabel: label }}
    />
  );
}
