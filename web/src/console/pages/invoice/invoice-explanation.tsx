// Every amount of the invoice with the way to its explanation.
import Box from "@cloudscape-design/components/box";
import Link from "@cloudscape-design/components/link";
import Pagination from "@cloudscape-design/components/pagination";
import Table from "@cloudscape-design/components/table";
import TextFilter from "@cloudscape-design/components/text-filter";
import { Trans, useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { useApi } from "../../../api/queries.ts";
import { Amount } from "../../../components/amount.tsx";
import { QueryState } from "../../../components/query-state.tsx";
import { useAmountNames, useRuleTexts } from "./amount-names.ts";
import type { ExplainedAmount } from "./days-chart.tsx";
import type { InvoicePath } from "./invoice-page.tsx";
import { LineDialog } from "./line-dialog.tsx";

const PAGE = 20;
const TOTALS = ["total", "tax", "pre_tax"];

export function InvoiceExplanation({ path }: { path: InvoicePath }) {
  const explanation = useApi("/m/core/invoices/{month}/{company_id}/{vendor}/explanation", {
    path,
  });
  return (
    <QueryState query={explanation}>
      {(loaded) => <Amounts path={path} lines={loaded.lines} currency={loaded.currency} />}
    </QueryState>
  );
}

interface AmountsProps {
  path: InvoicePath;
  lines: readonly ExplainedAmount[];
  currency: string;
}

function Amounts({ path, lines, currency }: AmountsProps) {
  const { t } = useLingui();
  const ruleText = useRuleTexts();
  const { nameOf, ownerOf } = useAmountNames();
  const [search, setSearch] = useState("");
  const [page, setPage] = useState(1);
  const [opened, setOpened] = useState<ExplainedAmount>();
  // People ask for the total first, and then for what is in it.
  const ordered = [
    ...TOTALS.flatMap((kind) => lines.filter((line) => line.kind === kind)),
    ...lines.filter((line) => !TOTALS.includes(line.kind)),
  ];
  const wanted = search.trim().toLowerCase();
  const found = ordered.filter((line) =>
    `${nameOf(line)} ${ownerOf(line)} ${line.customer_id ?? ""}`.toLowerCase().includes(wanted),
  );
  return (
    <>
      <Table
        variant="embedded"
        items={found.slice((page - 1) * PAGE, page * PAGE)}
        trackBy="line"
        wrapLines
        filter={
          <TextFilter
            filteringText={search}
            filteringPlaceholder={t`Service or account`}
            filteringAriaLabel={t`Service or account`}
            filteringClearAriaLabel={t`Clear`}
            onChange={({ detail }) => {
              setSearch(detail.filteringText);
              setPage(1);
            }}
          />
        }
        pagination={
          <Pagination
            currentPageIndex={page}
            pagesCount={Math.max(1, Math.ceil(found.length / PAGE))}
            onChange={({ detail }) => setPage(detail.currentPageIndex)}
          />
        }
        empty={<Trans>Nothing found</Trans>}
        columnDefinitions={[
          {
            id: "name",
            header: t`Item`,
            isRowHeader: true,
            cell: (line) => (
              <div>
                <Link
                  onFollow={(event) => {
                    event.preventDefault();
                    setOpened(line);
                  }}
                >
                  {nameOf(line)}
                </Link>
                <Box variant="small" display="block" color="text-body-secondary">
                  {ownerOf(line)}
                </Box>
              </div>
            ),
          },
          {
            id: "rule",
            header: t`Rule`,
            cell: (line) => (
              <Box color="text-body-secondary">{ruleText(line.rule, line.rule_text)}</Box>
            ),
          },
          {
            id: "amount",
            header: <span className="amount-cell">{t`Amount printed`}</span>,
            ariaLabel: () => t`Amount printed`,
            cell: (line) => (
              <span className="amount-cell">
                <Amount value={line.amount} currency={currency} strong={line.kind === "total"} />
              </span>
            ),
            width: 140,
          },
        ]}
      />
      {opened !== undefined && (
        <LineDialog
          title={`${nameOf(opened)} ${ownerOf(opened)}`}
          path={path}
          line={opened.line}
          onEnd={() => setOpened(undefined)}
        />
      )}
    </>
  );
}
