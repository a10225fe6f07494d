// The sums and lines of a preview: the month's terms, the new terms, the difference.
import Box from "@cloudscape-design/components/box";
import { useLingui } from "@lingui/react/macro";
import type { Decimal } from "../../../api/exact-json.ts";
import { Amount } from "../../../components/amount.tsx";
import { formatCurrency, isZero } from "../../../components/amount-format.ts";
import { SmallTable, type SmallTableColumn } from "../../../components/small-table.tsx";
import type { TermsPreviewData } from "./terms-preview.tsx";

interface Row {
  id: string;
  name: string;
  before: Decimal | null | undefined;
  after: Decimal | null | undefined;
  difference?: Decimal | null | undefined;
  strong?: boolean;
}

export function PreviewTotals({ preview }: { preview: TermsPreviewData }) {
  const { t } = useLingui();
  const { current, preview: changed, difference } = preview;
  const rows: Row[] = [
    {
      id: "charge",
      name: t`Usage before discount`,
      before: current.usage_charge,
      after: changed.usage_charge,
      difference: difference?.usage_charge,
    },
    {
      id: "usage",
      name: t`Usage after discount`,
      before: current.usage_after,
      after: changed.usage_after,
      difference: difference?.usage_after,
    },
    {
      id: "support",
      name: t`Support fee`,
      before: current.support?.after,
      after: changed.support?.after,
      difference: difference?.support,
    },
    {
      id: "agency",
      name: t`Agency fee`,
      before: current.agency?.after,
      after: changed.agency?.after,
      difference: difference?.agency,
    },
    {
      id: "pre_tax",
      name: t`Before tax`,
      before: current.pre_tax,
      after: changed.pre_tax,
      difference: difference?.pre_tax,
    },
    {
      id: "tax",
      name: t`Consumption tax`,
      before: current.tax,
      after: changed.tax,
      difference: difference?.tax,
    },
    {
      id: "total",
      name: t`Total`,
      before: current.total,
      after: changed.total,
      difference: difference?.total,
      strong: true,
    },
    {
      id: "margin",
      name: t`Margin before tax`,
      before: preview.current_margin,
      after: preview.margin,
      // the vendor's costs are the same
      difference: difference?.pre_tax,
    },
  ];
  return (
    <PreviewTable rows={rows} preview={preview} label={t`Sums of the preview`} withDifference />
  );
}

export function PreviewLines({ preview }: { preview: TermsPreviewData }) {
  const { t } = useLingui();
  const key = (line: TermsPreviewData["current"]["lines"][number]) =>
    [line.customer_id, line.tag, line.service, line.marketplace].join("|");
  const before = new Map(preview.current.lines.map((line) => [key(line), line.after]));
  const rows: Row[] = preview.preview.lines.map((line) => ({
    id: key(line),
    // The service leaves out the products of a line that has none.
    name: [line.customer_name || line.tag, line.products?.join(", ") || line.service]
      .filter((part) => part !== "")
      .join(" · "),
    before: before.get(key(line)),
    after: line.after,
  }));
  const entries: Row[] = preview.preview.entries.map((entry) => ({
    id: entry.entry_id,
    name: entry.description,
    before: entry.amount,
    after: entry.amount,
  }));
  const items: Row[] = preview.preview.items.map((item, index) => ({
    id: `item ${index}`,
    name: item.label,
    before: item.total,
    after: item.total,
  }));
  return (
    <PreviewTable
      rows={[...rows, ...entries, ...items]}
      preview={preview}
      label={t`Lines of the preview`}
    />
  );
}

interface PreviewTableProps {
  rows: Row[];
  preview: TermsPreviewData;
  label: string;
  withDifference?: boolean;
}

function PreviewTable({ rows, preview, label, withDifference = false }: PreviewTableProps) {
  const { t } = useLingui();
  const before = formatCurrency(preview.current.currency);
  const after = formatCurrency(preview.preview.currency);
  const amount = (
    row: Row,
    value: Decimal | null | undefined,
    currency: string,
    signed = false,
  ) => <Amount value={value} currency={currency} strong={row.strong ?? false} signed={signed} />;
  const columns: SmallTableColumn<Row>[] = [
    {
      id: "name",
      header: t`Amount`,
      cell: (row) => (row.strong ? <Box fontWeight="bold">{row.name}</Box> : row.name),
      isRowHeader: true,
      minWidth: 110,
    },
    {
      id: "before",
      header: t`Terms of the month`,
      numeric: true,
      cell: (row) => amount(row, row.before, before),
    },
    {
      id: "after",
      header: t`Your answers`,
      numeric: true,
      cell: (row) => amount(row, row.after, after),
    },
    ...(withDifference
      ? [
          {
            id: "difference",
            header: t`Difference`,
            numeric: true,
            cell: (row: Row) =>
              row.difference !== undefined && row.difference !== null && isZero(row.difference)
                ? "±0"
                : amount(row, row.difference, after, true),
          },
        ]
      : []),
  ];
  return (
    <SmallTable<Row>
      embedded
      compact
      label={label}
      header={null}
      items={rows}
      trackBy="id"
      columns={columns}
    />
  );
}
