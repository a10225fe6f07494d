// Why an invoice changed, in words.
import { useLingui } from "@lingui/react/macro";
import type { components } from "../../../api/schema.ts";
import { formatNumber, formatPercent } from "../../../components/amount-format.ts";
import { useLanguage } from "../../../language/language.tsx";

export type Comparison = components["schemas"]["InvoiceComparison"];
type Cause = components["schemas"]["ChangeCause"];

/** The name of the cause, and what differs. */
export function useCauseTexts(comparison: Comparison): Record<Cause, [string, string]> {
  const { t } = useLingui();
  const { language } = useLanguage();
  const { exchange_rate, exchange_rate_before, discount_rate, discount_rate_before } = comparison;
  const rates =
    exchange_rate_before === null
      ? ""
      : `${formatNumber(exchange_rate_before, language)} → ${formatNumber(exchange_rate, language)}`;
  const discounts =
    discount_rate_before === null
      ? ""
      : `${formatPercent(discount_rate_before, language, 4)} → ${formatPercent(discount_rate, language, 4)}`;
  return {
    usage: [t`Usage`, t`The services cost more or less; see each below.`],
    exchange_rate: [t`Exchange rate`, rates],
    discount: [t`Discount`, discounts],
    currency: [t`Currency of the invoice`, t`The earlier amounts are converted.`],
    support: [t`Support fee`, t`It follows the usage and the terms.`],
    agency: [t`Agency fee`, t`It follows the usage and the terms.`],
    entries: [t`One-off entries`, t`Applied charges, credits and refunds.`],
    items: [t`Free-format items`, t`Fixed items of the customer.`],
    tax: [t`Tax`, t`It follows the taxable amount.`],
  };
}
