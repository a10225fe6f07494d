// Every item of both months, the largest change first; usage opens its days.

import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Header from "@cloudscape-design/components/header";
import Link from "@cloudscape-design/components/link";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Table from "@cloudscape-design/components/table";
import { Trans, useLingui } from "@lingui/react/macro";
import { useState } from "react";
import type { Decimal } from "../../../api/exact-json.ts";
import type { components } from "../../../api/schema.ts";
import { Amount } from "../../../components/amount.tsx";
import { formatCurrency } from "../../../components/amount-format.ts";
import { CsvButton } from "../../../components/csv-button.tsx";
import { formatMonth } from "../../../components/month.ts";
import { useIsNarrow } from "../../../components/narrow.ts";
import { useLanguage } from "../../../language/language.tsx";
import { useAmountNames } from "./amount-names.ts";
import type { Comparison } from "./cause-texts.ts";
import type { InvoicePath } from "./invoice-page.tsx";
import { LineDialog } from "./line-dialog.tsx";

type ComparedAmount = components["schemas"]["ComparedAmount"];

const SHOWN = 10;

interface ComparedAmountsProps {
  comparison: Comparison;
  path: InvoicePath;
}

export function ComparedAmounts({ comparison, path }: ComparedAmountsProps) {
  const { t } = useLingui();
  const { language } = useLanguage();
  const { nameOf, ownerOf } = useAmountNames();
  const isNarrow = useIsNarrow();
  const [all, setAll] = useState(false);
  const [opened, setOpened] = useState<ComparedAmount>();
  const currency = formatCurrency(comparison.currency);
  const { amounts, month, month_before } = comparison;
  const byTag = amounts.some((row) => row.tag !== null);
  const cell = (value: Decimal | null) => (
    <span className="amount-cell">
      <Amount value={value} currency={currency} />
    </span>
  );
  const column = (id: string, header: string, value: (row: ComparedAmount) => Decimal | null) => ({
    id,
    header: <span className="amount-cell">{header}</span>,
    ariaLabel: () => header,
    cell: (row: ComparedAmount) => cell(value(row)),
    width: 130,
  });
  return (
    <SpaceBetween size="s">
      <Table
        variant="embedded"
        items={all ? amounts : amounts.slice(0, SHOWN)}
        wrapLines
        header={
          <Header
            variant="h3"
            counter={`(${amounts.length})`}
            description={
              byTag
                ? t`Before tax, by service and tag. Open a service to see its days.`
                : t`Before tax, by service and account. Open a service to see its days.`
            }
            actions={
              <CsvButton
                name={`changes-${path.company_id}-${month}`}
                rows={amounts}
                columns={[
                  [t`Item`, nameOf],
                  [t`Account`, ownerOf],
                  [t`Currency`, () => currency],
                  [month_before, (row) => String(row.amount_before ?? "")],
                  [month, (row) => String(row.amount ?? "")],
                  [t`Change`, (row) => String(row.change)],
                ]}
              />
            }
          >
            <Trans>What changed</Trans>
          </Header>
        }
        columnDefinitions={[
          {
            id: "name",
            header: t`Item`,
            isRowHeader: true,
            cell: (row) => (
              <div>
                <Link
                  onFollow={(event) => {
                    event.preventDefault();
                    setOpened(row);
                  }}
                >
                  {nameOf(row)}
                </Link>
                <Box variant="small" display="block" color="text-body-secondary">
                  {ownerOf(row)}
                </Box>
                {isNarrow && (
                  <Box variant="small" display="block">
                    <Amount value={row.amount_before} currency={currency} />
                    {" → "}
                    <Amount value={row.amount} currency={currency} />
                  </Box>
                )}
              </div>
            ),
          },
          ...(isNarrow
            ? []
            : [
                column("before", formatMonth(month_before, language), (row) => row.amount_before),
                column("now", formatMonth(month, language), (row) => row.amount),
              ]),
          {
            id: "change",
            header: <span className="amount-cell">{t`Change`}</span>,
            ariaLabel: () => t`Change`,
            cell: (row) => (
              <span className="amount-cell">
                <Amount value={row.change} currency={currency} signed />
              </span>
            ),
            width: 130,
          },
        ]}
      />
      {!all && amounts.length > SHOWN && (
        <Box textAlign="center">
          <Button onClick={() => setAll(true)}>
            <Trans>Show all {amounts.length}</Trans>
          </Button>
        </Box>
      )}
      {opened !== undefined && (
        <LineDialog
          title={`${nameOf(opened)} ${ownerOf(opened)}`}
          path={path}
          line={opened.line}
          monthBefore={month_before}
          lineBefore={opened.line_before}
          onEnd={() => setOpened(undefined)}
        />
      )}
    </SpaceBetween>
  );
}
