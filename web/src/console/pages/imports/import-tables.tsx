// What an import adds up to, and where it differs from what counts.
import Header from "@cloudscape-design/components/header";
import { Trans, useLingui } from "@lingui/react/macro";
import type { ReactNode } from "react";
import type { Decimal } from "../../../api/exact-json.ts";
import { Amount } from "../../../components/amount.tsx";
import { formatCurrency, formatNumber } from "../../../components/amount-format.ts";
import { CsvButton } from "../../../components/csv-button.tsx";
import { SmallTable, type SmallTableColumn } from "../../../components/small-table.tsx";
import { useLanguage } from "../../../language/language.tsx";
import { AccountName } from "../../account-name.tsx";
import { useCalcTypes } from "../entries/calc-types.ts";
import type { ImportRecord } from "./import-state.tsx";

interface Definition<T> extends SmallTableColumn<T> {
  /** The text of the cell in the CSV file. */
  csv: (row: T) => string;
}

function words<T>(id: string, header: string, read: (row: T) => string): Definition<T> {
  return { id, header, cell: read, csv: read };
}

function money<T>(
  id: string,
  header: string,
  read: (row: T) => Decimal,
  currency: (row: T) => string,
): Definition<T> {
  return {
    id,
    header,
    numeric: true,
    csv: (row) => String(read(row)),
    cell: (row) => <Amount value={read(row)} currency={currency(row)} />,
  };
}

/** The words of a column stay whole. */
const WIDTH_MIN = 120;

interface ReportTableProps<T extends { currency?: string }> {
  /** Names the CSV file. */
  id: string;
  title: string;
  description: ReactNode;
  rows: readonly T[];
  columns: Definition<T>[];
}

function ReportTable<T extends { currency?: string }>(props: ReportTableProps<T>) {
  const { t } = useLingui();
  const { title, description, rows, columns } = props;
  return (
    <SmallTable
      label={title}
      items={rows}
      trackBy={(row) => columns.map((column) => column.csv(row)).join("|")}
      columns={columns.map((column) => ({ ...column, minWidth: WIDTH_MIN }))}
      header={
        <Header
          variant="h2"
          counter={`(${rows.length})`}
          description={description}
          actions={
            <CsvButton
              name={props.id}
              rows={rows}
              columns={[
                ...columns.map((column) => [column.header, column.csv] as const),
                [t`Currency`, (row) => formatCurrency(row.currency ?? "")],
              ]}
            />
          }
        >
          {title}
        </Header>
      }
    />
  );
}

/** The kinds of cost lines, in words. */
export function useKinds(): Record<string, string> {
  const { t } = useLingui();
  return {
    usage: t`Usage`,
    entry: t`One-off`,
    tax: t`Tax of the vendor`,
    discount: t`Discount of the vendor`,
    unknown: t`Not known`,
  };
}

export function Totals({ record }: { record: ImportRecord }) {
  const { t } = useLingui();
  const { language } = useLanguage();
  const kinds = useKinds();
  type Row = ImportRecord["totals"][number];
  const columns: Definition<Row>[] = [
    { ...words("payer", t`Payer`, (row) => row.payer_id), isRowHeader: true },
    words("kind", t`Kind`, (row) => kinds[row.kind] ?? row.kind),
    words("type", t`Line type of the vendor`, (row) => row.line_type),
    {
      id: "lines",
      header: t`Lines`,
      numeric: true,
      csv: (row) => String(row.lines),
      cell: (row) => formatNumber(row.lines, language),
    },
    money(
      "cost",
      t`Costs`,
      (row) => row.cost,
      (row) => row.currency,
    ),
  ];
  return (
    <ReportTable
      id="import-totals"
      title={t`Totals by payer`}
      description={t`Compare them with the vendor's bill.`}
      rows={record.totals}
      columns={columns}
    />
  );
}

export function Proposals({ record }: { record: ImportRecord }) {
  const { t } = useLingui();
  const calcTypes = useCalcTypes();
  type Row = ImportRecord["proposals"][number];
  const columns: Definition<Row>[] = [
    {
      ...words("account", t`Account`, (row) => row.customer_id),
      cell: (row) => <AccountName vendor={record.vendor} customerId={row.customer_id} />,
      isRowHeader: true,
    },
    words("type", t`Kind`, (row) => calcTypes[row.calc_type] ?? row.calc_type),
    words("service", t`Service`, (row) => row.service || "–"),
    money(
      "counts",
      t`Invoiced from`,
      (row) => row.counts,
      (row) => row.currency,
    ),
    money(
      "delivered",
      t`Now charged`,
      (row) => row.delivered,
      (row) => row.currency,
    ),
    money(
      "amount",
      t`To bill or credit`,
      (row) => row.amount,
      (row) => row.currency,
    ),
  ];
  return (
    <ReportTable
      id="proposed-corrections"
      title={t`Proposed corrections`}
      description={
        <Trans>
          What the vendor charges more or less, without discounts and fees. Nothing is billed by
          itself.
        </Trans>
      }
      rows={record.proposals}
      columns={columns}
    />
  );
}

interface DriftRow {
  customer_id: string;
  line_type: string;
  currency: string;
  counts: Decimal;
  delivered: Decimal;
}

export function Drift({ record }: { record: ImportRecord }) {
  const { t } = useLingui();
  const columns: Definition<DriftRow>[] = [
    {
      ...words("account", t`Account`, (row) => row.customer_id),
      cell: (row) => <AccountName vendor={record.vendor} customerId={row.customer_id} />,
      isRowHeader: true,
    },
    words("type", t`Line type of the vendor`, (row) => row.line_type),
    money(
      "counts",
      t`Invoiced from`,
      (row) => row.counts,
      (row) => row.currency,
    ),
    money(
      "delivered",
      t`Now charged`,
      (row) => row.delivered,
      (row) => row.currency,
    ),
  ];
  return (
    <ReportTable
      id="differences-from-closed-month"
      title={t`Differences from the closed month`}
      description={t`All lines of the vendor, also those that are not billed to customers.`}
      rows={record.drift as unknown as DriftRow[]}
      columns={columns}
    />
  );
}

interface DifferenceRow {
  payer_id?: string;
  customer_id?: string;
  kind?: string;
  currency?: string;
  table?: string;
  delivered: Decimal;
  stored: Decimal;
}

export function Differences({ record }: { record: ImportRecord }) {
  const { t } = useLingui();
  const kinds = useKinds();
  const columns: Definition<DifferenceRow>[] = [
    { ...words("payer", t`Payer`, (row) => row.payer_id ?? "–"), isRowHeader: true },
    words("account", t`Account`, (row) => row.customer_id ?? "–"),
    words("kind", t`Kind`, (row) =>
      row.kind === undefined ? (row.table ?? "–") : (kinds[row.kind] ?? row.kind),
    ),
    money(
      "delivered",
      t`In the files`,
      (row) => row.delivered,
      (row) => row.currency ?? "",
    ),
    money(
      "stored",
      t`Stored`,
      (row) => row.stored,
      (row) => row.currency ?? "",
    ),
  ];
  return (
    <ReportTable
      id="differences-between-readings"
      title={t`Differences between two readings`}
      description={t`A second program reads the same files. Its sums must be equal to the last digit.`}
      rows={record.differences as unknown as DifferenceRow[]}
      columns={columns}
    />
  );
}
