// The differences between invoices and costs, each with its invoice.

import Header from "@cloudscape-design/components/header";
import Pagination from "@cloudscape-design/components/pagination";
import Table from "@cloudscape-design/components/table";
import { Trans, useLingui } from "@lingui/react/macro";
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
  month: string;
  tieOut: TieOut;
  page: number;
  setPage: (page: number) => void;
}

export function TieOutDifferences({ month, tieOut, page, setPage }: TieOutDifferencesProps) {
  const { t } = useLingui();
  const { differences, entry_differences } = tieOut.counts;
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
  const rows: Row[] = [
    ...tieOut.differences.map((row) => ({ ...row, subject: `${row.customer_id} ${row.service}` })),
    ...tieOut.entry_differences.map((row) => ({
      ...row,
      counts: row.applied,
      subject: row.customer_id,
    })),
  ];
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
  return (
    <Table
      variant="embedded"
      items={rows}
      wrapLines
      header={
        <Header
          variant="h3"
          counter={`(${differences + entry_differences})`}
          actions={
            <CsvButton
              name={`differences-${month}`}
              rows={rows}
              columns={[
                [t`Reason`, (row) => reasons[row.reason] ?? row.reason],
                [t`Invoice`, (row) => row.invoice_no ?? ""],
                [t`Account and service`, (row) => row.subject],
                [t`Currency`, (row) => formatCurrency(row.currency)],
                [t`Invoiced`, (row) => String(row.invoiced)],
                [t`In the costs`, (row) => String(row.counts)],
                [t`Difference`, (row) => String(row.difference)],
              ]}
            />
          }
        >
          <Trans>Differences</Trans>
        </Header>
      }
      pagination={
        <Pagination
          currentPageIndex={page}
          pagesCount={Math.ceil(Math.max(differences, entry_differences) / PAGE)}
          onChange={({ detail }) => setPage(detail.currentPageIndex)}
        />
      }
      columnDefinitions={[
        {
          id: "reason",
          header: t`Reason`,
          cell: (row) => reasons[row.reason] ?? row.reason,
          isRowHeader: true,
        },
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
        amount("counts", t`In the costs`),
        amount("difference", t`Difference`),
      ]}
    />
  );
}
