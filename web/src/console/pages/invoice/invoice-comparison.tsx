// Why the invoice differs from that of the month before.
import Box from "@cloudscape-design/components/box";
import ColumnLayout from "@cloudscape-design/components/column-layout";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Table from "@cloudscape-design/components/table";
import { Trans, useLingui } from "@lingui/react/macro";
import { useApi } from "../../../api/queries.ts";
import { Amount } from "../../../components/amount.tsx";
import { formatCurrency, formatRate, plusSign } from "../../../components/amount-format.ts";
import { CsvButton } from "../../../components/csv-button.tsx";
import { formatMonth } from "../../../components/month.ts";
import { useIsNarrow } from "../../../components/narrow.ts";
import { QueryState } from "../../../components/query-state.tsx";
import { RouterLink } from "../../../components/router-link.tsx";
import { useLanguage } from "../../../language/language.tsx";
import { type Comparison, useCauseTexts } from "./cause-texts.ts";
import { ComparedAmounts } from "./compared-amounts.tsx";
import { Figure } from "./figure.tsx";
import type { InvoicePath } from "./invoice-page.tsx";

export function InvoiceComparison({ path }: { path: InvoicePath }) {
  const comparison = useApi("/m/core/invoices/{month}/{company_id}/{vendor}/comparison", { path });
  return (
    <QueryState query={comparison}>
      {(loaded) =>
        loaded.invoice_no_before === null ? (
          <FirstInvoice comparison={loaded} />
        ) : (
          <Changes comparison={loaded} path={path} />
        )
      }
    </QueryState>
  );
}

function FirstInvoice({ comparison }: { comparison: Comparison }) {
  const { language } = useLanguage();
  return (
    <Box padding={{ vertical: "l" }} textAlign="center">
      <Trans>
        There is no invoice of {formatMonth(comparison.month_before, language)} to compare with.
      </Trans>
    </Box>
  );
}

function Changes({ comparison, path }: { comparison: Comparison; path: InvoicePath }) {
  const { t } = useLingui();
  const { language } = useLanguage();
  const currency = formatCurrency(comparison.currency);
  const { month, month_before, change_rate } = comparison;
  const percent =
    change_rate === null ? "" : ` (${plusSign(change_rate)}${formatRate(change_rate, language)})`;
  return (
    <SpaceBetween size="l">
      <ColumnLayout columns={3} variant="text-grid" minColumnWidth={130}>
        <div>
          <Figure
            label={formatMonth(month_before, language)}
            value={comparison.total_before}
            currency={currency}
          />
          <RouterLink to={`/invoices/${month_before}/${path.company_id}/${path.vendor}`}>
            {comparison.invoice_no_before}
          </RouterLink>
        </div>
        <Figure label={formatMonth(month, language)} value={comparison.total} currency={currency} />
        <Figure
          label={t`Change with tax${percent}`}
          value={comparison.change}
          currency={currency}
          strong
          signed
        />
      </ColumnLayout>
      <Causes comparison={comparison} company={path.company_id} />
      <ComparedAmounts comparison={comparison} path={path} />
    </SpaceBetween>
  );
}

function Causes({ comparison, company }: { comparison: Comparison; company: string }) {
  const { t } = useLingui();
  const texts = useCauseTexts(comparison);
  const isNarrow = useIsNarrow();
  const detail = (cause: keyof typeof texts) => (
    <Box color="text-body-secondary" variant={isNarrow ? "small" : "span"}>
      {texts[cause][1]}
    </Box>
  );
  const currency = formatCurrency(comparison.currency);
  return (
    <Table
      variant="embedded"
      items={comparison.causes}
      trackBy="cause"
      wrapLines
      header={
        <Header
          variant="h3"
          description={t`The causes add up to the change exactly. The largest comes first.`}
          actions={
            <CsvButton
              name={`causes-${company}-${comparison.month}`}
              rows={comparison.causes}
              columns={[
                [t`Cause`, (row) => texts[row.cause][0]],
                [t`What differs`, (row) => texts[row.cause][1]],
                [t`Currency`, () => currency],
                [t`Change`, (row) => String(row.amount)],
              ]}
            />
          }
        >
          <Trans>Causes</Trans>
        </Header>
      }
      empty={<Trans>Both invoices are equal.</Trans>}
      columnDefinitions={[
        {
          id: "cause",
          header: t`Cause`,
          cell: (row) => (
            <>
              {texts[row.cause][0]}
              {isNarrow && <div>{detail(row.cause)}</div>}
            </>
          ),
          isRowHeader: true,
          ...(!isNarrow && { width: 130 }),
        },
        ...(isNarrow
          ? []
          : [
              {
                id: "detail",
                header: t`What differs`,
                minWidth: 200,
                cell: (row: Comparison["causes"][number]) => detail(row.cause),
              },
            ]),
        {
          id: "amount",
          header: <span className="amount-cell">{t`Change`}</span>,
          ariaLabel: () => t`Change`,
          cell: (row) => (
            <span className="amount-cell">
              <Amount value={row.amount} currency={currency} signed />
            </span>
          ),
          width: 130,
        },
      ]}
    />
  );
}
