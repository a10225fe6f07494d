// What the amounts of an invoice are called, and which rule each follows.
import { useLingui } from "@lingui/react/macro";

interface NamedAmount {
  kind: string;
  label: string;
  customer_id: string | null;
  customer_name: string | null;
  tag?: string | null;
}

export function useAmountNames() {
  const { t } = useLingui();
  const names: Record<string, string> = {
    support: t`Support fee`,
    agency: t`Agency fee`,
    pre_tax: t`Before tax`,
    tax: t`Tax`,
    total: t`Total`,
    remainder: t`Remainder`,
  };
  return {
    nameOf: (amount: NamedAmount) => names[amount.kind] ?? names[amount.label] ?? amount.label,
    /** The account or the tag that the amount belongs to. */
    ownerOf: (amount: NamedAmount) => {
      if (amount.tag !== null && amount.tag !== undefined)
        return amount.tag === "" ? t`without the tag` : amount.tag;
      return amount.customer_name ?? amount.customer_id ?? "";
    },
  };
}

export function useRuleTexts(): (rule: string, fallback: string) => string {
  const { t } = useLingui();
  const texts: Record<string, string> = {
    usage: t`The vendor's usage of a service, minus the discount.`,
    support_percent: t`A percentage of the support base.`,
    support_fix: t`A fixed support fee.`,
    support_aws_developer: t`The vendor's developer plan on the support base.`,
    support_aws_business: t`The vendor's business plan on the support base.`,
    support_aws_enterprise: t`The vendor's enterprise plan on the support base.`,
    agency_percent: t`A percentage of the agency base.`,
    agency_fix: t`A fixed agency fee.`,
    agency_automatic: t`The larger of a percentage of the agency base and a fixed fee.`,
    agency_usagetable: t`The agency base at the rates of the organisation's usage table.`,
    entry: t`An applied one-off entry, never discounted.`,
    free_format: t`A free-format item of the customer.`,
    pre_tax: t`The sum of all printed amounts.`,
    tax: t`The tax rate on the taxable amount, rounded once per invoice.`,
    total: t`The amount before tax plus the tax.`,
  };
  return (rule, fallback) => texts[rule] ?? fallback;
}

/** The calculation with the kind of rounding in words. */
export function useWorking(): (working: string) => string {
  const { t } = useLingui();
  const words: Record<string, string> = {
    half_up: t`rounded half up:`,
    down: t`rounded down:`,
    up: t`rounded up:`,
  };
  return (working) =>
    working.replace(/, (half_up|down|up) /g, (_match, mode: string) => `, ${words[mode]} `);
}
