// The differences between invoices and costs, each with its invoice.

import Header from "@cloudscape-design/components/header";
import Pagination from "@cloudscape-design/components/pagination";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Table from "@cloudscape-design/components/table";
import { useLingui } from "@lingui/react/macro";
import type { Decimal } from "../../../api/exact-json.ts";
import type { components } from "../../../api/schema.ts";
import { Amount } from "../../../components/amount.tsx";
import { formatCurrency } from "../../../components/amount-format.ts";
import { CsvButton } from "../../../components/csv-button.tsx";
import { RouterLink } from "../../../components/router-link.tsx";

type TieOut = components["schemas"]["TieOut"];

/** Rows of each list of the tie-out on one page. */
export const PAGE = 20;

interface Row {
  vendor: string;
  reason: string;
  company_id: string | null;
  invoice_no: string | null;
  subject: string;
  currency: string;
  invoiced: Decimal;
  counts: Decimal;
  difference: Decimal;
}

interface TieOutDifferencesProps {
  tieOut: TieOut;
  page: number;
  setPage: (page: number) => void;
}

/** Usage and entries apart: only the usage adds up to the differences of the payers. */
export function TieOutDifferences({ tieOut, page, setPage }: TieOutDifferencesProps) {
  const { t } = useLingui();
  const { month, counts } = tieOut;
  const pages = Math.ceil(Math.max(counts.differences, counts.entry_differences) / PAGE);
  return (
    <SpaceBetween size="m">
      <DifferenceTable
        name={`differences-${month}`}
        title={t`Differences of the costs`}
        month={month}
        count={counts.differences}
        counted={t`In the costs`}
        rows={tieOut.differences.map((row) => ({
          ...row,
          subject: `${row.customer_id} ${row.service}`,
        }))}
      />
      <DifferenceTable
        name={`entry-differences-${month}`}
        title={t`Differences of the entries`}
        description={t`They are no part of the sums above.`}
        month={month}
        count={counts.entry_differences}
        counted={t`Applied`}
        rows={tieOut.entry_differences.map((row) => ({
          ...row,
          counts: row.applied,
          subject: row.customer_id,
        }))}
      />
      {pages > 1 && (
        <Pagination
          currentPageIndex={page}
          pagesCount={pages}
          onChange={({ detail }) => setPage(detail.currentPageIndex)}
        />
      )}
    </SpaceBetween>
  );
}

interface DifferenceTableProps {
  name: string;
  title: string;
  description?: string;
  month: string;
  /** The rows on all pages. */
  count: number;
  /** What the invoiced amount is compared with. */
  counted: string;
  rows: readonly Row[];
}

function DifferenceTable(props: DifferenceTableProps) {
  const { t } = useLingui();
  const { name, title, description, month, count, counted, rows } = props;
  const reasons: Record<string, string> = {
    invoice_missing: t`Costs without an invoice`,
    invoice_cancelled: t`Costs on a cancelled invoice`,
    not_on_invoice: t`Not on the invoice`,
    not_in_costs: t`On the invoice, not in the costs`,
    amount_differs: t`Other amount`,
    entries_differ: t`Entries differ`,
    entry_not_on_invoice: t`Entry not on the invoice`,
    entry_not_applied: t`Entry is not applied`,
    entry_changed: t`Entry was changed`,
    entry_invoiced_twice: t`Entry on two invoices`,
  };
  const reason = (row: Row) => reasons[row.reason] ?? row.reason;
  const amount = (id: "invoiced" | "counts" | "difference", header: string) => ({
    id,
    header: <span className="amount-cell">{header}</span>,
    ariaLabel: () => header,
    cell: (row: Row) => (
      <span className="amount-cell">
        <Amount value={row[id]} currency={row.currency} />
      </span>
    ),
  });
  if (rows.length === 0) return null;
  return (
    <Table
      variant="embedded"
      items={rows}
      wrapLines
      ariaLabels={{ tableLabel: title }}
      header={
        <Header
          variant="h3"
          counter={`(${count})`}
          {...(description !== undefined && { description })}
          actions={
            <CsvButton
              name={name}
              rows={rows}
              columns={[
                [t`Reason`, reason],
                [t`Invoice`, (row) => row.invoice_no ?? ""],
                [t`Account and service`, (row) => row.subject],
                [t`Currency`, (row) => formatCurrency(row.currency)],
                [t`Invoiced`, (row) => String(row.invoiced)],
                [counted, (row) => String(row.counts)],
                [t`Difference`, (row) => String(row.difference)],
              ]}
            />
          }
        >
          {title}
        </Header>
      }
      columnDefinitions={[
        { id: "reason", header: t`Reason`, cell: reason, isRowHeader: true },
        {
          id: "invoice",
          header: t`Invoice`,
          cell: (row) =>
            row.company_id !== null && row.invoice_no !== null ? (
              <RouterLink to={`/invoices/${month}/${row.company_id}/${row.vendor}`}>
                {row.invoice_no}
              </RouterLink>
            ) : (
              ""
            ),
        },
        { id: "subject", header: t`Account and service`, cell: (row) => row.subject },
        amount("invoiced", t`Invoiced`),
        amount("counts", counted),
        amount("difference", t`Difference`),
      ]}
    />
  );
}
