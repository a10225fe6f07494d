// A table of a few rows, which needs neither pages nor order.
import Box from "@cloudscape-design/components/box";
import Table from "@cloudscape-design/components/table";
import type { ReactNode } from "react";
import { useIsNarrow } from "./narrow.ts";
import { type NarrowColumn, NarrowRows } from "./narrow-rows.tsx";

import "./amount.css";

export interface SmallTableColumn<T> extends NarrowColumn<T> {
  isRowHeader?: boolean;
  /** Amounts are aligned at their end. */
  numeric?: boolean;
  minWidth?: number;
}

interface SmallTableProps<T> {
  label: string;
  items: readonly T[];
  columns: readonly SmallTableColumn<T>[];
  trackBy: string | ((row: T) => string);
  header: ReactNode;
  empty?: ReactNode;
  /** Shows more rows at once. */
  compact?: boolean;
  /** Inside another container, without a border of its own. */
  embedded?: boolean;
}

export function SmallTable<T>({
  label,
  columns,
  empty,
  embedded = false,
  compact = false,
  ...props
}: SmallTableProps<T>) {
  const isNarrow = useIsNarrow();
  const whenEmpty = (
    <Box textAlign="center" color="text-body-secondary">
      {empty}
    </Box>
  );
  // two columns also fit the width of a phone
  if (isNarrow && columns.length > 2)
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
      contentDensity={compact ? "compact" : "comfortable"}
      columnDefinitions={columns.map(toDefinition)}
      empty={whenEmpty}
      wrapLines
      enableKeyboardNavigation
      ariaLabels={{ tableLabel: label }}
    />
  );
}

function toDefinition<T>({ numeric, ...column }: SmallTableColumn<T>) {
  if (!numeric) return column;
  return {
    ...column,
    header: <span className="amount-cell">{column.header}</span>,
    ariaLabel: () => column.header,
    cell: (row: T) => <span className="amount-cell">{column.cell(row)}</span>,
  };
}
