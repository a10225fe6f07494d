// The current and the earlier revisions of an invoice, to compare their numbers.
import Badge from "@cloudscape-design/components/badge";
import Box from "@cloudscape-design/components/box";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import type { Decimal } from "../../../api/exact-json.ts";
import { useApi } from "../../../api/queries.ts";
import { Amount } from "../../../components/amount.tsx";
import { formatCurrency, formatNumber, formatPercent } from "../../../components/amount-format.ts";
import { CsvButton } from "../../../components/csv-button.tsx";
import { formatDate, formatTime } from "../../../components/month.ts";
import { PdfButton } from "../../../components/pdf-button.tsx";
import { QueryState } from "../../../components/query-state.tsx";
import { SmallTable } from "../../../components/small-table.tsx";
import { useLanguage } from "../../../language/language.tsx";
import type { InvoiceDocument, InvoicePath } from "./invoice-page.tsx";

interface Revision {
  revision: number;
  create_time: string | null;
  invoice: InvoiceDocument;
}

interface InvoiceRevisionsProps {
  path: InvoicePath;
  invoice: InvoiceDocument;
}

export function InvoiceRevisions({ path, invoice }: InvoiceRevisionsProps) {
  const earlier = useApi("/m/core/invoices/{month}/{company_id}/{vendor}/revisions", { path });
  return (
    <QueryState query={earlier}>
      {(loaded) => (
        <SpaceBetween size="s">
          <RevisionTable
            path={path}
            revisions={[{ revision: invoice.revision, create_time: null, invoice }, ...loaded]}
          />
          {loaded.length === 0 && (
            <Box color="text-body-secondary">
              <Trans>
                The invoice was created once. Creating it again keeps its number and adds a revision
                here.
              </Trans>
            </Box>
          )}
        </SpaceBetween>
      )}
    </QueryState>
  );
}

function RevisionTable({ path, revisions }: { path: InvoicePath; revisions: Revision[] }) {
  const { t } = useLingui();
  const { language } = useLanguage();
  const amount = (
    id: string,
    header: string,
    value: (sheet: InvoiceDocument["sheet"]) => Decimal,
  ) => ({
    id,
    header,
    numeric: true,
    cell: ({ invoice }: Revision) => (
      <Amount value={value(invoice.sheet)} currency={invoice.currency} />
    ),
  });
  return (
    <SmallTable
      embedded
      label={t`Revisions`}
      items={revisions}
      trackBy={(row) => String(row.revision)}
      header={
        <Header
          variant="h3"
          counter={`(${revisions.length})`}
          actions={
            <CsvButton
              name={`revisions-${path.company_id}-${path.month}`}
              rows={revisions}
              columns={[
                [t`Revision`, (row) => String(row.revision)],
                [t`Invoice number`, (row) => row.invoice.invoice_no],
                [t`Issued`, (row) => row.invoice.issue_date],
                [t`Currency`, (row) => formatCurrency(row.invoice.currency)],
                [t`Before tax`, (row) => String(row.invoice.sheet.pre_tax)],
                [t`Tax`, (row) => String(row.invoice.sheet.tax)],
                [t`Total`, (row) => String(row.invoice.sheet.total)],
                [t`Exchange rate`, (row) => String(row.invoice.exchange_rate)],
                [t`Discount rate`, (row) => String(row.invoice.terms.discount_rate)],
              ]}
            />
          }
        >
          <Trans>Revisions</Trans>
        </Header>
      }
      columns={[
        {
          id: "revision",
          header: t`Revision`,
          isRowHeader: true,
          minWidth: 120,
          cell: (row) => (
            <div className="no-wrap">
              {row.revision} {row.create_time === null && <Badge color="blue">{t`current`}</Badge>}
              <Box variant="small" display="block" color="text-body-secondary">
                {row.create_time === null
                  ? formatDate(row.invoice.issue_date, language)
                  : formatTime(row.create_time, language)}
              </Box>
            </div>
          ),
        },
        amount("pre_tax", t`Before tax`, (sheet) => sheet.pre_tax),
        amount("tax", t`Tax`, (sheet) => sheet.tax),
        amount("total", t`Total`, (sheet) => sheet.total),
        {
          id: "rate",
          header: t`Rate and discount`,
          minWidth: 90,
          cell: (row) => (
            <div className="no-wrap">
              {formatNumber(row.invoice.exchange_rate, language)}
              <Box variant="small" display="block" color="text-body-secondary">
                {formatPercent(row.invoice.terms.discount_rate, language, 4)}
              </Box>
            </div>
          ),
        },
        {
          id: "pdf",
          header: t`PDF`,
          cell: (row) => (
            <PdfButton
              address="/m/core/invoices/{month}/{company_id}/{vendor}/revisions/{revision}/pdf"
              path={{ ...path, revision: String(row.revision) }}
              name={`${row.invoice.invoice_no}-${row.revision}`}
              label={t`Save revision ${row.revision} as PDF`}
            />
          ),
        },
      ]}
    />
  );
}
