// Asks how the support fee is calculated.
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useLingui } from "@lingui/react/macro";
import { useTermSentences } from "./term-sentences.ts";
import { Choice, NumberField, Question } from "./terms-fields.tsx";
import type { Basis, Scope, TermsForm } from "./terms-model.ts";
import type { QuestionProps } from "./terms-questions.tsx";

export function SupportQuestion(props: QuestionProps) {
  const { t } = useLingui();
  const { form, change, vendor, problem } = props;
  const sentence = useTermSentences()(form).support;
  const plans: { value: TermsForm["support"]; label: string; description: string }[] = [
    {
      value: "aws_developer",
      label: t`AWS Developer plan`,
      description: t`3% of the base, but at least 29 dollars.`,
    },
    {
      value: "aws_business",
      label: t`AWS Business plan`,
      description: t`10% of the base up to 10,000 dollars, 7% up to 80,000, 5% up to 250,000, 3% above; at least 100 dollars.`,
    },
    {
      value: "aws_enterprise",
      label: t`AWS Enterprise plan`,
      description: t`10% of the base up to 150,000 dollars, 7% up to 500,000, 5% up to 1,000,000, 3% above; at least 15,000 dollars.`,
    },
  ];
  return (
    <Question title={t`Support fee`} answer={sentence}>
      <Choice<TermsForm["support"]>
        label={t`How is the support fee calculated?`}
        value={form.support}
        options={[
          {
            value: "none",
            label: t`No support fee`,
            description: t`The invoice has no such line.`,
          },
          { value: "percent", label: t`Percentage`, description: t`A percentage of the base.` },
          {
            value: "fix",
            label: t`Fixed amount`,
            description: t`The same amount every month with usage.`,
          },
          ...(vendor === "aws" ? plans : []),
        ]}
        onChange={(support) => change({ support })}
      />
      {form.support === "percent" && (
        <NumberField
          label={t`Support fee in percent`}
          value={form.supportRate}
          error={problem("supportRate", "support_rate")}
          onChange={(supportRate) => change({ supportRate })}
        />
      )}
      {form.support === "fix" && (
        <NumberField
          label={t`Amount of the support fee`}
          description={t`In the currency of the vendor's costs, which is dollars for AWS.`}
          value={form.supportAmount}
          error={problem("supportAmount", "support_fix")}
          onChange={(supportAmount) => change({ supportAmount })}
        />
      )}
      {form.support !== "none" && form.support !== "fix" && <SupportBase {...props} />}
    </Question>
  );
}

function SupportBase({ form, change }: QuestionProps) {
  const { t } = useLingui();
  return (
    <SpaceBetween size="m">
      <Choice
        label={t`Which usage counts?`}
        value={form.supportUsage}
        options={[
          {
            value: "allusage",
            label: t`All usage`,
            description: t`Marketplace charges count too.`,
          },
          {
            value: "cloudpayonlywithfee",
            label: t`Usage without marketplace`,
            description: t`Marketplace charges do not count.`,
          },
        ]}
        onChange={(supportUsage) => change({ supportUsage })}
      />
      <Choice<Basis>
        label={t`Is the support fee calculated before or after the discount?`}
        value={form.supportBasis}
        options={[
          {
            value: "nondiscount",
            label: t`Before discount`,
            description: t`The fee is calculated on the full price of usage.`,
          },
          {
            value: "discounted",
            label: t`After discount`,
            description: t`The fee is calculated on usage after the discount.`,
          },
        ]}
        onChange={(supportBasis) => change({ supportBasis })}
      />
      <Choice<Scope>
        label={t`Do one-off fees count for the support fee?`}
        value={form.supportScope}
        options={[
          {
            value: "cloudpayonly",
            label: t`Without one-off fees`,
            description: t`One-off fees that were applied do not count.`,
          },
          {
            value: "cloudpaywithfee",
            label: t`With one-off fees`,
            description: t`One-off fees that were applied to the month count too.`,
          },
        ]}
        onChange={(supportScope) => change({ supportScope })}
      />
    </SpaceBetween>
  );
}
