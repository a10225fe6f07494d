// A table whose rows the service pages, sorts and searches.
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Header from "@cloudscape-design/components/header";
import Pagination from "@cloudscape-design/components/pagination";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Table, { type TableProps } from "@cloudscape-design/components/table";
import TextFilter from "@cloudscape-design/components/text-filter";
import { Trans, useLingui } from "@lingui/react/macro";
import { type ReactNode, useEffect, useState } from "react";
import type { ReadAllRows } from "../api/all-rows.ts";
import type { ApiError } from "../api/client.ts";
import { useColumnStretch } from "./column-widths.ts";
import { ListCsvButton } from "./list-csv-button.tsx";
import type { ListControl } from "./list-state.ts";
import { useIsNarrow } from "./narrow.ts";
import { NarrowRows, OrderChoice } from "./narrow-rows.tsx";
import { usePreferences } from "./preferences.ts";
import { PreferencesDialog } from "./preferences-dialog.tsx";
import { ErrorState } from "./query-state.tsx";

import "./amount.css";
import "./placeholder.css";
import "./server-table.css";

const WIDTH = 150; // of a column that asks for none
const WIDTH_MIN = 80;
/** What stands for the rows until they are read. */
const SKELETON = { totalRows: "auto", minAutoRows: 3, maxAutoRows: 12 } as const;

export interface Column<T> {
  id: string;
  header: string;
  cell: (row: T) => ReactNode;
  /** The text of the cell in the CSV file. */
  csv: (row: T) => string;
  /** The name that the service sorts by, if it can. */
  sort?: string;
  width?: number;
  /** Amounts are aligned at their end. */
  numeric?: boolean;
  alwaysVisible?: boolean;
  /** The column is shown once the person chooses it. */
  hiddenAtFirst?: boolean;
}

/** A CSV file with its own columns, for tables whose rows go into other programs. */
export interface CSVFile<T> {
  name: string;
  columns: readonly Pick<Column<T>, "header" | "csv">[];
}

interface ServerTableProps<T> {
  /** Names the stored preferences and the CSV file. */
  id: string;
  title: string;
  /** The table is a part of a page that has its own heading. */
  embedded?: boolean;
  /** The table is inside another container, and has no border of its own. */
  borderless?: boolean;
  description?: ReactNode;
  columns: readonly Column<T>[];
  rows: readonly T[] | undefined;
  total?: number | undefined;
  /** Reads the rows of all pages, for the CSV file. */
  readAll: ReadAllRows<T>;
  control: ListControl;
  loading: boolean;
  error: ApiError | null;
  retry?: () => void;
  rowId: (row: T) => string;
  searchLabel?: string;
  actions?: ReactNode;
  filters?: ReactNode;
  /** The names of filters that leave rows out; an empty table then says that nothing was found. */
  narrowing?: readonly string[];
  empty: ReactNode;
  footer?: ReactNode;
  selected?: readonly T[];
  onSelect?: (rows: T[]) => void;
  rowLabel?: (row: T) => string;
  /** Without it, the file has the shown columns and the name of the table. */
  csv?: CSVFile<T>;
}

export function ServerTable<T>(props: ServerTableProps<T>) {
  const { t } = useLingui();
  const { columns, control, rows, total, narrowing = [] } = props;
  const ids = columns.filter((column) => !column.hiddenAtFirst).map((column) => column.id);
  const [preferences, setPreferences] = usePreferences(props.id, ids);
  const isNarrow = useIsNarrow();
  const isShown = (column: Column<T>) =>
    column.alwaysVisible === true || preferences.visible.includes(column.id);
  const { place, stretch, version } = useColumnStretch({
    widths: columns.filter(isShown).map((column) => column.width ?? WIDTH),
    selectable: props.onSelect !== undefined,
    embedded: props.embedded === true,
  });
  if (props.error !== null && rows === undefined)
    return (
      <SpaceBetween size="m">
        <Header variant={props.embedded ? "h2" : "h1"}>{props.title}</Header>
        <ErrorState error={props.error} {...(props.retry && { retry: props.retry })} />
      </SpaceBetween>
    );
  const sorted = columns.find((column) => column.sort === control.state.sort);
  const pages = Math.max(1, Math.ceil((total ?? rows?.length ?? 0) / preferences.pageSize));
  const parts = {
    items: rows ?? [],
    trackBy: props.rowId,
    loading: props.loading && rows === undefined,
    loadingText: t`Loading`,
    ...(props.onSelect && {
      selectionType: "multi" as const,
      selectedItems: props.selected ?? [],
      onSelectionChange: ({ detail }: { detail: { selectedItems: T[] } }) =>
        props.onSelect?.(detail.selectedItems),
      ariaLabels: {
        selectionGroupLabel: t`Selection`,
        allItemsSelectionLabel: () => t`Select all`,
        itemSelectionLabel: (_state: unknown, row: T) => props.rowLabel?.(row) ?? props.rowId(row),
      },
    }),
    header: (
      <Header
        variant={props.embedded ? "h2" : "awsui-h1-sticky"}
        {...(total !== undefined && { counter: `(${total})` })}
        description={props.description}
        actions={
          <SpaceBetween direction="horizontal" size="xs">
            <ListCsvButton
              name={props.csv?.name ?? props.id}
              columns={props.csv?.columns ?? columns.filter(isShown)}
              rows={rows}
              total={total}
              readAll={props.readAll}
            />
            {props.actions}
          </SpaceBetween>
        }
      >
        {props.title}
      </Header>
    ),
    filter: (
      <SpaceBetween direction="horizontal" size="xs" alignItems="end">
        {props.searchLabel !== undefined && (
          <Search
            label={props.searchLabel}
            control={control}
            count={props.loading ? undefined : total}
          />
        )}
        {props.filters}
        {isNarrow && <OrderChoice columns={columns} control={control} />}
      </SpaceBetween>
    ),
    pagination: (
      <Pagination
        currentPageIndex={control.state.page}
        pagesCount={pages}
        onChange={({ detail }) => control.change({ page: detail.currentPageIndex })}
      />
    ),
    preferences: (
      <PreferencesDialog columns={columns} preferences={preferences} onChange={setPreferences} />
    ),
    empty: (
      <Box textAlign="center" padding="l">
        {isNarrowed(control, narrowing) ? (
          <NothingFound control={control} narrowing={narrowing} />
        ) : (
          props.empty
        )}
      </Box>
    ),
    footer: props.footer,
  };
  if (isNarrow) return <NarrowRows<T> {...parts} columns={columns.filter(isShown)} />;
  const define = (column: Column<T>) => toDefinition(column, stretch ?? 1);
  return (
    <div ref={place} className="table-place" aria-busy={parts.loading}>
      {stretch !== undefined && (
        <Table
          key={version}
          {...parts}
          skeleton={SKELETON}
          variant={findVariant(props)}
          ariaLabels={{ ...parts.ariaLabels, tableLabel: props.title }}
          stickyHeader={!props.embedded}
          stickyColumns={{ first: 1 }}
          resizableColumns
          wrapLines={preferences.wrapLines}
          columnDefinitions={columns.map(define)}
          columnDisplay={columns.map((column) => ({ id: column.id, visible: isShown(column) }))}
          {...(sorted && { sortingColumn: define(sorted) })}
          sortingDescending={control.state.descending}
          onSortingChange={({ detail }) =>
            control.change({
              sort: detail.sortingColumn.sortingField ?? "",
              descending: detail.isDescending ?? false,
            })
          }
        />
      )}
    </div>
  );
}

function findVariant({ embedded, borderless }: { embedded?: boolean; borderless?: boolean }) {
  if (borderless) return "embedded";
  return embedded ? "container" : "full-page";
}

/** How many rows a page of the table has; what the page asks the service for. */
export function usePageSize(id: string): number {
  return usePreferences(id, [])[0].pageSize;
}

function toDefinition<T>(column: Column<T>, stretch: number): TableProps.ColumnDefinition<T> {
  return {
    id: column.id,
    header: column.numeric ? <span className="amount-cell">{column.header}</span> : column.header,
    ariaLabel: () => column.header,
    cell: (row) =>
      column.numeric ? <span className="amount-cell">{column.cell(row)}</span> : column.cell(row),
    ...(column.sort !== undefined && { sortingField: column.sort }),
    width: Math.floor((column.width ?? WIDTH) * stretch),
    minWidth: WIDTH_MIN,
  };
}

function Search({
  label,
  control,
  count,
}: {
  label: string;
  control: ListControl;
  count: number | undefined;
}) {
  const { t } = useLingui();
  const [text, setText] = useState(control.state.search);
  useEffect(() => setText(control.state.search), [control.state.search]);
  return (
    <div className="search-field">
      <TextFilter
        filteringText={text}
        filteringPlaceholder={label}
        filteringAriaLabel={label}
        filteringClearAriaLabel={t`Clear`}
        countText={text !== "" && count !== undefined ? t`${count} found` : ""}
        onChange={({ detail }) => setText(detail.filteringText)}
        onDelayedChange={({ detail }) => control.change({ search: detail.filteringText })}
      />
    </div>
  );
}

function isNarrowed(control: ListControl, narrowing: readonly string[]): boolean {
  return ["search", ...narrowing].some((name) => control.filter(name) !== "");
}

interface NothingFoundProps {
  control: ListControl;
  narrowing: readonly string[];
}

function NothingFound({ control, narrowing }: NothingFoundProps) {
  const clear = () =>
    control.setFilters(Object.fromEntries(["search", ...narrowing].map((name) => [name, ""])));
  return (
    <SpaceBetween size="xs">
      <b>
        <Trans>Nothing found</Trans>
      </b>
      <Button onClick={clear}>
        <Trans>Clear the search</Trans>
      </Button>
    </SpaceBetween>
  );
}
