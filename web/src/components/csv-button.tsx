// Saves the rows of a table that the page holds as a CSV file.
import Button from "@cloudscape-design/components/button";
import { Trans } from "@lingui/react/macro";
import { formatCSV, saveFile } from "./csv.ts";

interface CsvButtonProps<T> {
  /** The name of the file, without its ending. */
  name: string;
  rows: readonly T[];
  /** The header of each column and the text of its cells. */
  columns: readonly (readonly [header: string, text: (row: T) => string])[];
}

export function CsvButton<T>({ name, rows, columns }: CsvButtonProps<T>) {
  const save = () => {
    const lines = rows.map((row) => columns.map(([, text]) => text(row)));
    const content = formatCSV([columns.map(([header]) => header), ...lines]);
    saveFile(content, `${name}.csv`, "text/csv;charset=utf-8");
  };
  return (
    <Button iconName="download" onClick={save} disabled={rows.length === 0}>
      <Trans>CSV</Trans>
    </Button>
  );
}
