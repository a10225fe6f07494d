// Whether the month's invoices and the vendor's costs agree, and where they do not.

import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Table from "@cloudscape-design/components/table";
import { Trans, useLingui } from "@lingui/react/macro";
import { keepPreviousData } from "@tanstack/react-query";
import { useState } from "react";
import { useApi } from "../../../api/queries.ts";
import type { components } from "../../../api/schema.ts";
import { Amount } from "../../../components/amount.tsx";
import { countFractionDigits, formatCurrency } from "../../../components/amount-format.ts";
import { QueryState } from "../../../components/query-state.tsx";
import { RouterLink } from "../../../components/router-link.tsx";
import { CreateAgain } from "./create-again.tsx";
import { PAGE, TieOutDifferences } from "./tie-out-differences.tsx";

type TieOut = components["schemas"]["TieOut"];
type Payer = components["schemas"]["TieOutPayer"];
type AmountName =
  | "total"
  | "moved_fees"
  | "invoiced"
  | "in_no_group"
  | "entries_applied"
  | "entries_unapplied"
  | "tax"
  | "discount"
  | "unknown"
  | "difference";

export function TieOutPanel({ month, vendor }: { month: string; vendor: string }) {
  const { t } = useLingui();
  const [page, setPage] = useState(1);
  const tieOut = useApi(
    "/m/core/invoices/tie-out/{month}",
    { path: { month }, query: { vendor, limit: PAGE, offset: (page - 1) * PAGE } },
    { placeholderData: keepPreviousData },
  );
  return (
    <Container
      header={
        <Header
          variant="h2"
          description={t`The vendor's costs must be found on the invoices, to the last digit.`}
        >
          <Trans>Tie-out</Trans>
        </Header>
      }
    >
      <QueryState query={tieOut}>
        {(loaded) => (
          <Result month={month} vendor={vendor} tieOut={loaded} page={page} setPage={setPage} />
        )}
      </QueryState>
    </Container>
  );
}

interface ResultProps {
  month: string;
  vendor: string;
  tieOut: TieOut;
  page: number;
  setPage: (page: number) => void;
}

function Result({ month, vendor, tieOut, page, setPage }: ResultProps) {
  const differs = tieOut.counts.differences > 0 || tieOut.counts.entry_differences > 0;
  return (
    <SpaceBetween size="m">
      {tieOut.payers.length === 0 ? (
        <Alert type="info">
          <Trans>There are no costs and no invoices to compare.</Trans>
        </Alert>
      ) : differs ? (
        <Alert type="error" action={<CreateAgain month={month} vendor={vendor} />}>
          <Trans>Invoices and costs differ. The rows below say where.</Trans>
        </Alert>
      ) : tieOut.counts.accounts_in_no_group > 0 ? (
        <Alert type="warning">
          <Trans>
            Invoices and costs agree, but nobody pays for the accounts in no billing group, which
            are listed below.
          </Trans>
        </Alert>
      ) : (
        <Alert type="success">
          <Trans>Invoices and costs agree.</Trans>
        </Alert>
      )}
      {tieOut.payers.map((payer) => (
        <PayerSums key={payer.payer_id} payer={payer} />
      ))}
      {differs && <TieOutDifferences tieOut={tieOut} page={page} setPage={setPage} />}
      {page === 1 && <AccountsInNoGroup tieOut={tieOut} />}
    </SpaceBetween>
  );
}

function PayerSums({ payer }: { payer: Payer }) {
  const { t } = useLingui();
  const currency = formatCurrency(payer.currency);
  const rows: { name: AmountName; label: string }[] = [
    { name: "total", label: t`Vendor's costs in total` },
    { name: "moved_fees", label: t`Moved reservation fees` },
    { name: "invoiced", label: t`On invoices` },
    { name: "in_no_group", label: t`Accounts in no billing group` },
    { name: "entries_applied", label: t`One-off entries applied` },
    { name: "entries_unapplied", label: t`One-off entries not applied` },
    { name: "tax", label: t`Vendor's tax` },
    { name: "discount", label: t`Vendor's discounts kept` },
    { name: "unknown", label: t`Unknown lines` },
    { name: "difference", label: t`Difference` },
  ];
  // every digit, so that the lines add up as they are printed
  const exactDigits = Math.max(...rows.map(({ name }) => countFractionDigits(payer[name])));
  return (
    <Table
      variant="embedded"
      items={rows}
      trackBy="name"
      wrapLines
      header={
        <Header variant="h3">
          <Trans>
            Payer account {payer.payer_id} ({currency})
          </Trans>
        </Header>
      }
      columnDefinitions={[
        {
          id: "label",
          header: t`Where the costs went`,
          cell: (row) =>
            row.name === "difference" || row.name === "total" ? <b>{row.label}</b> : row.label,
          isRowHeader: true,
        },
        {
          id: "amount",
          header: <span className="amount-cell">{t`Amount`}</span>,
          ariaLabel: () => t`Amount`,
          minWidth: 150,
          cell: (row) => (
            <span className="amount-cell">
              <Amount
                value={payer[row.name]}
                currency={currency}
                exactDigits={exactDigits}
                strong={row.name === "difference" || row.name === "total"}
              />
            </span>
          ),
        },
      ]}
    />
  );
}

function AccountsInNoGroup({ tieOut }: { tieOut: TieOut }) {
  if (tieOut.accounts_in_no_group.length === 0) return null;
  const others = tieOut.counts.accounts_in_no_group - tieOut.accounts_in_no_group.length;
  return (
    <div>
      <Box variant="h3">
        <Trans>Accounts in no billing group</Trans>
      </Box>
      <ul>
        {tieOut.accounts_in_no_group.map((account) => (
          <li key={account.customer_id}>
            <RouterLink
              to={`/accounts?unassigned=true&vendor=${account.vendor}&month=${tieOut.month}`}
            >
              {account.customer_id}
            </RouterLink>{" "}
            <Amount value={account.amount} currency={account.currency} />
          </li>
        ))}
        {others > 0 && (
          <li>
            <Trans>and {others} more</Trans>
          </li>
        )}
      </ul>
    </div>
  );
}
