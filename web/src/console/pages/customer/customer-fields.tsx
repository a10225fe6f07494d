// The fields of a customer, for creating and for editing.
import Checkbox from "@cloudscape-design/components/checkbox";
import ColumnLayout from "@cloudscape-design/components/column-layout";
import Container from "@cloudscape-design/components/container";
import FormField from "@cloudscape-design/components/form-field";
import Header from "@cloudscape-design/components/header";
import Input from "@cloudscape-design/components/input";
import Select from "@cloudscape-design/components/select";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import type { ApiError } from "../../../api/client.ts";
import { useApi } from "../../../api/queries.ts";
import { OptionalLabel } from "../../../components/optional-label.tsx";
import { useFieldErrors } from "../../../components/rule-text.ts";
import { useMay } from "../../me.ts";
import type { CustomerForm } from "./customer-form.ts";
import { useCustomerLabels } from "./customer-labels.ts";

type TextName = Exclude<keyof CustomerForm, "language" | "project_id" | "inv_aggregate">;

interface CustomerFieldsProps {
  form: CustomerForm;
  change: (part: Partial<CustomerForm>) => void;
  error: ApiError | null;
  disabled?: boolean;
}

export function CustomerFields({ form, change, error, disabled = false }: CustomerFieldsProps) {
  const { t } = useLingui();
  const labels = useCustomerLabels();
  const refused = useFieldErrors(error);
  const taken = error?.code === "billinggroup_id_taken" ? t`Another customer has this id.` : "";
  const text = (name: TextName, description = "", required = false) => (
    <FormField
      label={required ? labels[name] : <OptionalLabel label={labels[name]} />}
      description={description}
      errorText={name === "billinggroup_id" && taken !== "" ? taken : refused(name)}
    >
      <Input
        value={form[name]}
        disabled={disabled}
        autoComplete={false}
        onChange={({ detail }) => change({ [name]: detail.value })}
      />
    </FormField>
  );
  return (
    <SpaceBetween size="l">
      <Container
        header={
          <Header variant="h2">
            <Trans>Customer</Trans>
          </Header>
        }
      >
        <ColumnLayout columns={2}>
          {text("company_name", t`It is printed on invoices.`, true)}
          {text("billinggroup_name", t`The short name in lists and messages.`, true)}
          {text("billinggroup_id", t`The customer's number in your own books.`, true)}
          <ProjectField form={form} change={change} error={error} disabled={disabled} />
        </ColumnLayout>
      </Container>
      <Container
        header={
          <Header variant="h2">
            <Trans>Addressee of the invoice</Trans>
          </Header>
        }
      >
        <ColumnLayout columns={2}>
          {text("personal", t`Department or person.`)}
          {text("phone", t`12 to 16 characters, such as 03-0000-0001.`)}
          {text("postal", t`4 to 10 characters, such as 100-0001.`)}
          {text("address", t`Printed after the postal code.`)}
        </ColumnLayout>
      </Container>
      <Container
        header={
          <Header variant="h2">
            <Trans>Printed invoice</Trans>
          </Header>
        }
      >
        <ColumnLayout columns={2}>
          {text("billing_title", t`The heading of the invoice.`)}
          {text("remarks", t`Printed below the amounts.`)}
          <LanguageField form={form} change={change} disabled={disabled} />
          <FormField label={labels.inv_aggregate}>
            <Checkbox
              checked={form.inv_aggregate}
              disabled={disabled}
              onChange={({ detail }) => change({ inv_aggregate: detail.checked })}
            >
              <Trans>Print the invoices of all vendors together, with a cover page</Trans>
            </Checkbox>
          </FormField>
        </ColumnLayout>
      </Container>
    </SpaceBetween>
  );
}

function LanguageField({
  form,
  change,
  disabled,
}: Pick<CustomerFieldsProps, "form" | "change" | "disabled">) {
  const { t } = useLingui();
  const options = [
    { value: "", label: t`As the organisation` },
    { value: "ja", label: "日本語" },
    { value: "en", label: "English" },
  ];
  return (
    <FormField label={t`Language of the invoice`}>
      <Select
        options={options}
        disabled={disabled ?? false}
        selectedOption={options.find((option) => option.value === form.language) ?? null}
        onChange={({ detail }) =>
          change({ language: detail.selectedOption.value as CustomerForm["language"] })
        }
      />
    </FormField>
  );
}

function ProjectField({ form, change, error, disabled }: CustomerFieldsProps) {
  const { t } = useLingui();
  const may = useMay();
  const projects = useApi("/m/core/project", {}, { enabled: may("ReadProject", "ModifyProject") });
  const refused = useFieldErrors(error);
  const options = [
    { value: "", label: t`No project` },
    ...(projects.data ?? []).map((project) => ({
      value: project.project_id,
      label: project.project_label,
      description: project.project_code,
    })),
  ];
  return (
    <FormField
      label={<OptionalLabel label={t`Project`} />}
      description={t`Profit is reported by project.`}
      errorText={refused("project_id")}
    >
      <Select
        options={options}
        disabled={(disabled ?? false) || !may("ReadProject", "ModifyProject")}
        statusType={projects.isLoading ? "loading" : "finished"}
        selectedOption={options.find((option) => option.value === form.project_id) ?? null}
        placeholder={form.project_id}
        onChange={({ detail }) => change({ project_id: detail.selectedOption.value ?? "" })}
      />
    </FormField>
  );
}
