// Asks how the agency fee is calculated.
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useLingui } from "@lingui/react/macro";
import { useTermSentences } from "./term-sentences.ts";
import { Choice, NumberField, Question } from "./terms-fields.tsx";
import type { TermsForm } from "./terms-model.ts";
import type { QuestionProps } from "./terms-questions.tsx";

export function AgencyQuestion(props: QuestionProps) {
  const { t } = useLingui();
  const { form, change, problem } = props;
  const sentence = useTermSentences()(form).agency;
  return (
    <Question title={t`Agency fee`} answer={sentence}>
      <Choice<TermsForm["agency"]>
        label={t`How is the agency fee calculated?`}
        value={form.agency}
        options={[
          { value: "none", label: t`No agency fee`, description: t`The invoice has no such line.` },
          { value: "percent", label: t`Percentage`, description: t`A percentage of the base.` },
          {
            value: "fix",
            label: t`Fixed amount`,
            description: t`The same amount every month with usage.`,
          },
          {
            value: "automatic",
            label: t`Percentage with a minimum`,
            description: t`The percentage or the fixed amount, whichever is larger.`,
          },
          {
            value: "usagetable",
            label: t`Table of rates`,
            description: t`The rates for amounts up to a limit, which the organisation settings list.`,
          },
        ]}
        onChange={(agency) => change({ agency })}
      />
      {(form.agency === "percent" || form.agency === "automatic") && (
        <NumberField
          label={t`Agency fee in percent`}
          value={form.agencyRate}
          error={problem("agencyRate", "substitution_rate")}
          onChange={(agencyRate) => change({ agencyRate })}
        />
      )}
      {(form.agency === "fix" || form.agency === "automatic") && (
        <NumberField
          label={form.agency === "fix" ? t`Amount of the agency fee` : t`Minimum of the agency fee`}
          description={t`In the currency of the vendor's costs, which is dollars for AWS.`}
          value={form.agencyAmount}
          error={problem("agencyAmount", "substitution_fix")}
          onChange={(agencyAmount) => change({ agencyAmount })}
        />
      )}
      {form.agency !== "none" && <AgencyBase {...props} />}
    </Question>
  );
}

function AgencyBase({ form, change }: QuestionProps) {
  const { t } = useLingui();
  return (
    <SpaceBetween size="m">
      {form.agency !== "fix" && (
        <SpaceBetween size="m">
          <Choice
            label={t`Which charges are in the base of the agency fee?`}
            value={form.agencyScope}
            options={[
              {
                value: "cloudpayonly",
                label: t`Usage`,
                description: t`The support fee does not count.`,
              },
              {
                value: "cloudpaywithfee",
                label: t`Usage and support fee`,
                description: t`The support fee counts too.`,
              },
            ]}
            onChange={(agencyScope) => change({ agencyScope })}
          />
          <Choice
            label={t`Is the base before or after discount?`}
            value={form.agencyBasis}
            options={[
              {
                value: "nondiscount",
                label: t`Before discount`,
                description: t`The fee does not become smaller when the discount grows.`,
              },
              {
                value: "discounted",
                label: t`After discount`,
                description: t`The fee is calculated on what the customer pays for usage.`,
              },
            ]}
            onChange={(agencyBasis) => change({ agencyBasis })}
          />
        </SpaceBetween>
      )}
      <Choice
        label={t`What is the fee calculated for?`}
        value={form.agencyFor}
        options={[
          {
            value: "allsum",
            label: t`The whole invoice`,
            description: t`The fee is calculated once.`,
          },
          {
            value: "account",
            label: t`Each account`,
            description: t`The fee is calculated for each account and added up; a fixed amount is due once per account.`,
          },
        ]}
        onChange={(agencyFor) => change({ agencyFor })}
      />
    </SpaceBetween>
  );
}
