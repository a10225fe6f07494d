// Asks for discount, support fee, agency fee, tax and the lines of the invoice.
import Box from "@cloudscape-design/components/box";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import type { ApiError } from "../../../api/client.ts";
import { RouterLink } from "../../../components/router-link.tsx";
import { useFieldErrors } from "../../../components/rule-text.ts";
import { useMay } from "../../me.ts";
import { AgencyQuestion } from "./agency-question.tsx";
import { SupportQuestion } from "./support-question.tsx";
import { useTermSentences } from "./term-sentences.ts";
import { Choice, NumberField, Question } from "./terms-fields.tsx";
import {
  findInvalidFields,
  highestTax,
  type TermsField,
  type TermsForm,
  type UpdateMode,
} from "./terms-model.ts";

export interface QuestionProps {
  form: TermsForm;
  change: (part: Partial<TermsForm>) => void;
  vendor: string;
  mode: UpdateMode;
  /** The sentence about a number that is not right, or nothing. */
  problem: (field: TermsField, ...names: string[]) => string;
}

interface TermsQuestionsProps extends Omit<QuestionProps, "problem"> {
  error: ApiError | null;
}

export function TermsQuestions({ error, ...rest }: TermsQuestionsProps) {
  const { t } = useLingui();
  const refused = useFieldErrors(error);
  const invalid = findInvalidFields(rest.form);
  const rates: TermsField[] = ["discount", "agencyRate", "supportRate", "tax"];
  const problem = (field: TermsField, ...names: string[]) => {
    if (!invalid.includes(field)) return refused(...names);
    return rates.includes(field)
      ? t`Enter a percentage from 0 to 100, such as 5 or 7.5.`
      : t`Enter an amount of 0 or more.`;
  };
  const props = { ...rest, problem };
  return (
    <SpaceBetween size="l">
      <DiscountQuestion {...props} />
      <SupportQuestion {...props} />
      <AgencyQuestion {...props} />
      <TaxQuestion {...props} />
      <LinesQuestion {...props} />
    </SpaceBetween>
  );
}

function DiscountQuestion({ form, change, problem }: QuestionProps) {
  const { t } = useLingui();
  const sentence = useTermSentences()(form).discount;
  return (
    <Question title={t`Discount`} answer={sentence}>
      <NumberField
        label={t`Discount in percent`}
        description={t`0 means no discount. Applied one-off entries are never discounted.`}
        value={form.discount}
        error={problem("discount", "discount_rate")}
        onChange={(discount) => change({ discount })}
      />
      {form.discount.trim() !== "0" && (
        <SpaceBetween size="m">
          <Choice
            label={t`Is the support fee discounted?`}
            value={form.discountsSupport ? "yes" : "no"}
            options={[
              { value: "no", label: t`No`, description: t`The discount reduces usage alone.` },
              {
                value: "yes",
                label: t`Yes`,
                description: t`The support fee is reduced by the same percentage.`,
              },
            ]}
            onChange={(value) => change({ discountsSupport: value === "yes" })}
          />
          <Choice
            label={t`Is the agency fee discounted?`}
            value={form.discountsAgency ? "yes" : "no"}
            options={[
              { value: "no", label: t`No`, description: t`The agency fee is charged in full.` },
              {
                value: "yes",
                label: t`Yes`,
                description: t`The agency fee is reduced by the same percentage.`,
              },
            ]}
            onChange={(value) => change({ discountsAgency: value === "yes" })}
          />
        </SpaceBetween>
      )}
    </Question>
  );
}

function TaxQuestion({ form, change, mode, problem }: QuestionProps) {
  const { t } = useLingui();
  const may = useMay();
  const highest = highestTax(mode);
  const sentence = useTermSentences()(form).tax;
  return (
    <Question title={t`Consumption tax`} answer={sentence}>
      <NumberField
        label={t`Consumption tax in percent`}
        description={
          <>
            <Trans>
              At most {highest}%. It is calculated on the sum before tax, without tax-free entries.
            </Trans>{" "}
            {may("ReadSettings", "ModifySettings") && (
              <Trans>
                The limit follows from “Values of terms” in the{" "}
                <RouterLink to="/settings">settings</RouterLink>.
              </Trans>
            )}
          </>
        }
        value={form.tax}
        error={problem("tax", "tax_rate")}
        onChange={(tax) => change({ tax })}
      />
    </Question>
  );
}

function LinesQuestion({ form, change }: QuestionProps) {
  const { t } = useLingui();
  const sentence = useTermSentences()(form).lines;
  return (
    <Question title={t`Currency and lines`} answer={sentence}>
      <Choice
        label={t`Currency of the invoice`}
        value={form.currency}
        options={[
          {
            value: "jpy",
            label: t`Yen`,
            description: t`Costs in dollars are converted at the month's exchange rate; amounts are whole yen.`,
          },
          { value: "usd", label: t`US dollars`, description: t`Amounts have dollars and cents.` },
        ]}
        onChange={(currency) => change({ currency })}
      />
      <Choice
        label={t`Lines of usage`}
        value={form.lines}
        options={[
          {
            value: "account",
            label: t`By account`,
            description: t`One line for each account and service.`,
          },
          {
            value: "tag",
            label: t`By tag`,
            description: t`One line for each value of the organisation's cost tag and service; untagged usage comes last.`,
          },
        ]}
        onChange={(lines) => change({ lines })}
      />
      <Box color="text-body-secondary">
        <Trans>
          Every printed amount is rounded once, in the way that the organisation settings say. Sums
          add up printed amounts.
        </Trans>
      </Box>
    </Question>
  );
}
