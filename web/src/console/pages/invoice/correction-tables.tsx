// What a correction changes: by tax rate, by line, and which terms.
import Box from "@cloudscape-design/components/box";
import Header from "@cloudscape-design/components/header";
import { Trans, useLingui } from "@lingui/react/macro";
import type { Decimal } from "../../../api/exact-json.ts";
import { Amount } from "../../../components/amount.tsx";
import { formatPercent, isZero } from "../../../components/amount-format.ts";
import { CsvButton } from "../../../components/csv-button.tsx";
import { SmallTable } from "../../../components/small-table.tsx";
import { useLanguage } from "../../../language/language.tsx";
import { useFieldText } from "../audit/field-texts.ts";
import { useAmountNames } from "./amount-names.ts";
import {
  type CorrectedAmount,
  type CorrectedTaxRate,
  listCorrectedAmounts,
} from "./corrected-amounts.ts";
import type { Correction } from "./correction-sources.ts";
import type { InvoiceDocument } from "./invoice-page.tsx";

interface CorrectionTableProps {
  invoice: InvoiceDocument;
  correction: Correction;
}

export function TaxRates({ invoice, correction }: CorrectionTableProps) {
  const { t } = useLingui();
  const { language } = useLanguage();
  const { currency } = invoice;
  const nameOf = ({ tax_rate }: CorrectedTaxRate) =>
    tax_rate === null ? t`Not subject to tax` : formatPercent(tax_rate, language);
  const column = (
    id: "invoiced" | "credited" | "corrected" | "difference",
    header: string,
    signed = false,
  ) => ({
    id,
    header,
    numeric: true,
    cell: (row: CorrectedTaxRate) => (
      <WithTax value={row[id]} tax={row[`${id}_tax`]} currency={currency} signed={signed} />
    ),
  });
  return (
    <SmallTable<CorrectedTaxRate>
      embedded
      compact
      label={t`Difference by tax rate`}
      items={correction.rates}
      trackBy={(row) => String(row.tax_rate)}
      header={
        <Header
          variant="h3"
          description={t`Amounts before tax, with the tax below.`}
          actions={
            <CsvButton
              name={`correction-rates-${invoice.invoice_no}`}
              rows={correction.rates}
              columns={[
                [t`Tax rate`, (row) => String(row.tax_rate ?? "")],
                [t`On the invoice`, (row) => String(row.invoiced)],
                [t`On the invoice (tax)`, (row) => String(row.invoiced_tax)],
                [t`Credited`, (row) => String(row.credited)],
                [t`Credited (tax)`, (row) => String(row.credited_tax)],
                [t`Corrected`, (row) => String(row.corrected)],
                [t`Corrected (tax)`, (row) => String(row.corrected_tax)],
                [t`Difference`, (row) => String(row.difference)],
                [t`Difference (tax)`, (row) => String(row.difference_tax)],
              ]}
            />
          }
        >
          <Trans>Difference by tax rate</Trans>
        </Header>
      }
      columns={[
        { id: "rate", header: t`Tax rate`, isRowHeader: true, cell: nameOf },
        column("invoiced", t`On the invoice`),
        ...(isZero(correction.credited) ? [] : [column("credited", t`Credited`)]),
        column("corrected", t`Corrected`),
        column("difference", t`Difference`, true),
      ]}
    />
  );
}

interface WithTaxProps {
  value: Decimal;
  tax: Decimal;
  currency: string;
  signed: boolean;
}

function WithTax({ value, tax, currency, signed }: WithTaxProps) {
  return (
    <>
      <Amount value={value} currency={currency} signed={signed} />
      <Box variant="small" display="block" color="text-body-secondary">
        <Amount value={tax} currency={currency} signed={signed} />
      </Box>
    </>
  );
}

export function CorrectedLines({ invoice, correction }: CorrectionTableProps) {
  const { t } = useLingui();
  const { nameOf } = useAmountNames();
  const { currency } = invoice;
  const rows = listCorrectedAmounts(invoice.sheet, correction.sheet);
  const name = (row: CorrectedAmount) =>
    row.name || nameOf({ kind: row.kind, label: "", customer_id: null, customer_name: null });
  const column = (id: "before" | "after" | "difference", header: string) => ({
    id,
    header,
    numeric: true,
    cell: (row: CorrectedAmount) => (
      <Amount value={row[id]} currency={currency} signed={id === "difference"} />
    ),
  });
  return (
    <SmallTable<CorrectedAmount>
      embedded
      compact
      label={t`Corrected lines`}
      items={rows}
      trackBy="key"
      empty={<Trans>No line changes.</Trans>}
      header={
        <Header
          variant="h3"
          counter={`(${rows.length})`}
          description={t`Lines that change, before tax.`}
          actions={
            <CsvButton
              name={`correction-lines-${invoice.invoice_no}`}
              rows={rows}
              columns={[
                [t`Item`, name],
                [t`Account`, (row) => row.owner],
                [t`On the invoice`, (row) => String(row.before ?? "")],
                [t`Corrected`, (row) => String(row.after ?? "")],
                [t`Difference`, (row) => String(row.difference)],
              ]}
            />
          }
        >
          <Trans>Corrected lines</Trans>
        </Header>
      }
      columns={[
        {
          id: "name",
          header: t`Item`,
          isRowHeader: true,
          cell: (row) => (
            <>
              {name(row)}
              <Box variant="small" display="block" color="text-body-secondary">
                {row.owner}
              </Box>
            </>
          ),
        },
        column("before", t`On the invoice`),
        column("after", t`Corrected`),
        column("difference", t`Difference`),
      ]}
    />
  );
}

/** Rates are shown as percentages, the other values as the service writes them. */
export function ChangedTerms({ correction }: { correction: Correction }) {
  const { t } = useLingui();
  const { language } = useLanguage();
  const fieldText = useFieldText();
  const show = (field: string, value: string | null) =>
    value !== null && field.endsWith("_rate") ? formatPercent(value, language, 4) : (value ?? "–");
  return (
    <SmallTable
      embedded
      compact
      label={t`Changed terms`}
      items={correction.changedTerms}
      trackBy="field"
      header={
        <Header variant="h3">
          <Trans>Changed terms</Trans>
        </Header>
      }
      columns={[
        { id: "field", header: t`Term`, isRowHeader: true, cell: (row) => fieldText(row.field) },
        {
          id: "before",
          header: t`On the invoice`,
          cell: (row) => show(row.field, row.before),
        },
        { id: "after", header: t`Now`, cell: (row) => show(row.field, row.after) },
      ]}
    />
  );
}
