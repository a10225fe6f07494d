// The names of a month's steps, and what each is about.
import { useLingui } from "@lingui/react/macro";
import type { components } from "../../../api/schema.ts";

export type StepName = components["schemas"]["MonthStep"]["step"];

export function useStepTexts(): Record<StepName, { title: string; explanation: string }> {
  const { t } = useLingui();
  return {
    arrived: { title: t`Costs arrived`, explanation: t`The vendor's cost files are imported.` },
    placed: {
      title: t`Accounts assigned`,
      explanation: t`Every account with costs belongs to a customer's billing group.`,
    },
    decided: {
      title: t`Entries decided`,
      explanation: t`One-off charges, credits and refunds are applied to a month, this one or a later one. Until then nobody pays for them.`,
    },
    rates: {
      title: t`Exchange rate saved`,
      explanation: t`Costs in another currency are converted with the rate of this month.`,
    },
    created: {
      title: t`Invoices created`,
      explanation: t`Every customer with costs has its invoice.`,
    },
    checked: {
      title: t`Invoices checked`,
      explanation: t`Invoices and the vendor's costs agree to the last digit.`,
    },
    approved: {
      title: t`Approved`,
      explanation: t`A second person approves what leaves the company.`,
    },
    sent: { title: t`Sent`, explanation: t`Customers have received their invoices.` },
    closed: {
      title: t`Month closed`,
      explanation: t`Nothing changes any more: no import, no new invoice, no entry.`,
    },
    drifted: {
      title: t`Costs changed after closing`,
      explanation: t`The vendor delivered other costs than those that were invoiced.`,
    },
    corrected: {
      title: t`Change corrected`,
      explanation: t`The difference is billed or credited in an open month.`,
    },
  };
}
