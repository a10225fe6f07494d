// Chooses the lines of an invoice that a credit note returns.
import FormField from "@cloudscape-design/components/form-field";
import Multiselect from "@cloudscape-design/components/multiselect";
import { useLingui } from "@lingui/react/macro";
import { useApi } from "../../../api/queries.ts";
import { formatAmount } from "../../../components/amount-format.ts";
import { QueryState } from "../../../components/query-state.tsx";
import { useLanguage } from "../../../language/language.tsx";
import { useAmountNames } from "./amount-names.ts";
import type { InvoicePath } from "./invoice-page.tsx";

const SUMS = ["total", "tax", "pre_tax"];

interface CreditedLinesProps {
  path: InvoicePath;
  chosen: readonly string[];
  onChange: (lines: readonly string[]) => void;
}

export function CreditedLines({ path, chosen, onChange }: CreditedLinesProps) {
  const { t } = useLingui();
  const { language } = useLanguage();
  const { nameOf, ownerOf } = useAmountNames();
  const explanation = useApi("/m/core/invoices/{month}/{company_id}/{vendor}/explanation", {
    path,
  });
  return (
    <QueryState query={explanation}>
      {({ lines, currency }) => {
        const options = lines
          .filter((line) => !SUMS.includes(line.kind))
          .map((line) => ({
            value: line.line,
            label: nameOf(line),
            description: ownerOf(line),
            labelTag: formatAmount(line.amount, currency, language),
          }));
        return (
          <FormField label={t`Lines to credit`}>
            <Multiselect
              options={options}
              selectedOptions={options.filter((option) => chosen.includes(option.value))}
              placeholder={t`Choose lines`}
              filteringType="auto"
              filteringAriaLabel={t`Service or account`}
              deselectAriaLabel={({ label }) => t`Remove ${label ?? ""}`}
              onChange={({ detail }) =>
                onChange(detail.selectedOptions.map((option) => option.value ?? ""))
              }
            />
          </FormField>
        );
      }}
    </QueryState>
  );
}
