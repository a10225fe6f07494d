// What looks wrong and why, in words, and the page that shows the cause.
import { useLingui } from "@lingui/react/macro";
import type { components } from "../../../api/schema.ts";

export type Finding = components["schemas"]["CheckFinding"];
export type FindingCode = components["schemas"]["FindingCode"];
type Cause = components["schemas"]["FindingCause"];

export const FINDING_CODES: readonly FindingCode[] = [
  "change_above_limit",
  "margin_below_limit",
  "negative",
  "zero",
  "new_customer",
  "vanished_customer",
  "missing_data",
];

export function useFindingNames(): Record<FindingCode, string> {
  const { t } = useLingui();
  return {
    change_above_limit: t`Large change`,
    margin_below_limit: t`Low margin`,
    zero: t`Zero`,
    negative: t`Negative`,
    new_customer: t`New customer`,
    vanished_customer: t`Vanished customer`,
    missing_data: t`Missing data`,
  };
}

export function useCauseNames(): Record<Cause, string> {
  const { t } = useLingui();
  return {
    usage: t`The usage changed.`,
    exchange_rate: t`The exchange rate changed.`,
    terms: t`The terms, entries or items changed.`,
    sold_below_cost: t`The invoice is lower than the vendor's costs.`,
    low_margin: t`The margin is below the limit.`,
    no_costs: t`There are no costs this month.`,
    credits: t`Credits or discounts exceed the usage.`,
    no_invoice_before: t`There was no invoice last month.`,
    not_invoiced: t`There are costs, but no invoice.`,
    account_without_costs: t`The account had costs last month and has none now.`,
  };
}

/** Where the cause of the finding can be seen. */
export function findCausePage(finding: Finding): string {
  const { code, cause, company_id, month, vendor } = finding;
  if (code === "missing_data") return `/customers/${company_id}`;
  if (finding.invoice_no === null)
    return cause === "not_invoiced"
      ? `/invoices/${month}?vendor=${vendor}&invoiced=false`
      : `/customers/${company_id}`;
  const tab = ["change_above_limit", "new_customer"].includes(code) ? "change" : "amounts";
  return `/invoices/${month}/${company_id}/${vendor}?tab=${tab}`;
}
