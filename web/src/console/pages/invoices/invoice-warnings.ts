// What an invoice lacks, as a sentence that says what to do.
import { useLingui } from "@lingui/react/macro";
import type { components } from "../../../api/schema.ts";

export type WarningCode = components["schemas"]["InvoiceWarningCode"];

export function useWarningTexts(): Record<WarningCode, { short: string; text: string }> {
  const { t } = useLingui();
  return {
    issuer_missing: {
      short: t`No issuer`,
      text: t`The invoice names no issuer. Assign an invoice template to the customer, then create the invoice again.`,
    },
    registration_number_missing: {
      short: t`No registration number`,
      text: t`The invoice names no registration number. Enter it in the invoice template, then create the invoice again.`,
    },
  };
}
