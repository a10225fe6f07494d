// The fields of an invoice template.
import ColumnLayout from "@cloudscape-design/components/column-layout";
import Container from "@cloudscape-design/components/container";
import FormField from "@cloudscape-design/components/form-field";
import Header from "@cloudscape-design/components/header";
import Input from "@cloudscape-design/components/input";
import RadioGroup from "@cloudscape-design/components/radio-group";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Textarea from "@cloudscape-design/components/textarea";
import { Trans, useLingui } from "@lingui/react/macro";
import type { ApiError } from "../../../api/client.ts";
import { useFieldErrors } from "../../../components/rule-text.ts";
import type { TemplateForm } from "./template-form.ts";
import { useTemplateLabels } from "./template-labels.ts";

type TextName = Exclude<keyof TemplateForm, "due">;

interface TemplateFieldsProps {
  form: TemplateForm;
  change: (part: Partial<TemplateForm>) => void;
  error: ApiError | null;
  disabled: boolean;
}

export function TemplateFields({ form, change, error, disabled }: TemplateFieldsProps) {
  const { t } = useLingui();
  const labels = useTemplateLabels();
  const refused = useFieldErrors(error);
  const text = (name: TextName, description = "", rows = 0) => (
    <FormField label={labels[name]} description={description} errorText={refused(name)} stretch>
      {rows > 0 ? (
        <Textarea
          value={form[name]}
          rows={rows}
          disabled={disabled}
          onChange={({ detail }) => change({ [name]: detail.value })}
        />
      ) : (
        <Input
          value={form[name]}
          disabled={disabled}
          autoComplete={false}
          onChange={({ detail }) => change({ [name]: detail.value })}
        />
      )}
    </FormField>
  );
  return (
    <SpaceBetween size="l">
      <Container
        header={
          <Header variant="h2">
            <Trans>Issuer</Trans>
          </Header>
        }
      >
        <SpaceBetween size="m">
          <ColumnLayout columns={2}>
            {text("name", t`Shown in lists, not printed.`)}
            {text("company", t`The company that issues the invoice.`)}
            {text("registration_number", t`T and 13 digits; a qualified invoice must show it.`)}
            {text("contact", t`Person or e-mail address for questions.`)}
            {text("postal")}
            {text("phone")}
          </ColumnLayout>
          {text("address")}
        </SpaceBetween>
      </Container>
      <Container
        header={
          <Header variant="h2">
            <Trans>Payment</Trans>
          </Header>
        }
      >
        <SpaceBetween size="m">
          {text("bank_account", t`Bank, branch, kind, number and holder.`, 2)}
          <FormField label={labels.due} errorText={refused("due_rule")}>
            <RadioGroup
              value={form.due}
              items={[
                {
                  value: "end_of_next_month",
                  label: t`End of the next month`,
                  description: t`The last day of the month after the issue.`,
                },
                {
                  value: "days",
                  label: t`A number of days`,
                  description: t`Counted from the day of the issue.`,
                },
                { value: "none", label: t`None`, description: t`No due date is printed.` },
              ]}
              onChange={({ detail }) => change({ due: detail.value as TemplateForm["due"] })}
            />
          </FormField>
          {form.due === "days" && text("due_days", t`0 to 365.`)}
        </SpaceBetween>
      </Container>
      <Container
        header={
          <Header variant="h2">
            <Trans>Appearance</Trans>
          </Header>
        }
      >
        <SpaceBetween size="m">
          {text("notes", t`Printed at the end of the invoice.`, 3)}
          {text("accent_colour", t`# and six digits or letters from A to F, such as #1F6FB2.`)}
        </SpaceBetween>
      </Container>
    </SpaceBetween>
  );
}
