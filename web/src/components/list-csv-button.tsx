// Saves a list as a CSV file: all rows that its filters leave, not only those of the shown page.
import Button from "@cloudscape-design/components/button";
import { Trans, useLingui } from "@lingui/react/macro";
import { useEffect, useRef, useState } from "react";
import type { AllRows, ReadAllRows } from "../api/all-rows.ts";
import { ApiError } from "../api/client.ts";
import { formatCSV, saveFile } from "./csv.ts";
import { useNotifications } from "./notifications.tsx";

interface ListCsvButtonProps<T> {
  /** The name of the file, without its ending. */
  name: string;
  columns: readonly { header: string; csv: (row: T) => string }[];
  /** The rows of the shown page, and how many the list has. */
  rows: readonly T[] | undefined;
  total: number | undefined;
  readAll: ReadAllRows<T>;
}

export function ListCsvButton<T>({ name, columns, rows, total, readAll }: ListCsvButtonProps<T>) {
  const { t } = useLingui();
  const { notify, notifyError } = useNotifications();
  const [read, setRead] = useState<number>();
  const reading = useRef<AbortController>(undefined);
  useEffect(() => () => reading.current?.abort(), []);
  const write = (found: AllRows<T>) => {
    const lines = found.rows.map((row) => columns.map((column) => column.csv(row)));
    const content = formatCSV([columns.map((column) => column.header), ...lines]);
    saveFile(content, `${name}.csv`, "text/csv;charset=utf-8");
    if (!found.complete)
      notify({
        type: "warning",
        content: t`The file holds the first ${found.rows.length} of ${total} rows. Narrow the list down to save the others.`,
      });
  };
  const save = async () => {
    if (rows !== undefined && rows.length === total) return write({ rows, complete: true });
    const controller = new AbortController();
    reading.current = controller;
    setRead(0);
    try {
      const found = await readAll(setRead, controller.signal);
      if (!controller.signal.aborted) write(found);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (!controller.signal.aborted) notifyError(error);
    } finally {
      setRead(undefined);
    }
  };
  return (
    <Button
      iconName="download"
      onClick={save}
      loading={read !== undefined}
      loadingText={t`Reading the rows for the file`}
      disabled={!rows?.length}
    >
      {read === undefined || total === undefined ? <Trans>CSV</Trans> : `${read} / ${total}`}
    </Button>
  );
}
