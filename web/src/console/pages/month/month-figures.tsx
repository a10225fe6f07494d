// How many invoices a step concerns, and what they add up to.

import { Trans } from "@lingui/react/macro";
import { useApi } from "../../../api/queries.ts";
import type { components } from "../../../api/schema.ts";
import { Amount } from "../../../components/amount.tsx";
import { formatCurrency } from "../../../components/amount-format.ts";
import { RouterLink } from "../../../components/router-link.tsx";
import type { MonthStatus } from "./month-page.tsx";

interface MonthFigures {
  /** The billing groups that have accounts of the vendor. */
  groups: number;
  invoices: number;
  totals: readonly components["schemas"]["CurrencyTotal"][];
}

/** Nothing while it loads or if it cannot be read. */
export function useMonthFigures(month: string, vendor: string): MonthFigures | undefined {
  const summary = useApi("/m/core/invoices/{month}/summary", {
    path: { month },
    query: { vendor, limit: 1 },
  }).data;
  if (summary === undefined) return undefined;
  const invoices = summary.totals.reduce((sum, total) => sum + total.invoices, 0);
  return { groups: summary.count, invoices, totals: summary.totals };
}

/** The invoices of the month that were not sent. */
export function countUnsent({ steps }: MonthStatus): number {
  const blockers = steps.find(({ step }) => step === "sent")?.blockers ?? [];
  return blockers.find(({ reason }) => reason === "invoices_unsent")?.count ?? 0;
}

export function InvoiceSums({ figures }: { figures: MonthFigures }) {
  return (
    <ul>
      {figures.totals.map(({ currency, total }) => (
        <li key={currency}>
          <Trans>
            {formatCurrency(currency)}: <Amount value={total} currency={currency} strong /> with tax
          </Trans>
        </li>
      ))}
    </ul>
  );
}

/** Leads from a message to the invoices of the month. */
export function SeeInvoices({ month, vendor }: { month: string; vendor: string }) {
  return (
    <RouterLink to={`/invoices/${month}?vendor=${vendor}`} color="inverted">
      <Trans>See the invoices</Trans>
    </RouterLink>
  );
}
