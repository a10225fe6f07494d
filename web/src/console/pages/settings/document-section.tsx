// Tags in bills and reports, the usual invoice template, and what programs may send.
import Container from "@cloudscape-design/components/container";
import ExpandableSection from "@cloudscape-design/components/expandable-section";
import FormField from "@cloudscape-design/components/form-field";
import Header from "@cloudscape-design/components/header";
import Input from "@cloudscape-design/components/input";
import RadioGroup from "@cloudscape-design/components/radio-group";
import Select from "@cloudscape-design/components/select";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useLingui } from "@lingui/react/macro";
import { useApi } from "../../../api/queries.ts";
import { useMay } from "../../me.ts";
import type { SectionProps } from "./setting-fields.ts";
import { TagKeys } from "./tag-keys.tsx";

export function DocumentSection({ form, change, disabled, fieldErrors }: SectionProps) {
  const { t } = useLingui();
  const mayRead = useMay()("ReadBillingGroup", "ModifyBillingGroup");
  const templates = useApi("/m/core/invoicetemplate", {}, { enabled: mayRead });
  const none = { value: "", label: t`None` };
  const options = [
    none,
    ...(templates.data ?? []).map((template) => ({
      value: template.invoice_template_id,
      label: template.name,
      description: template.company ?? "",
    })),
  ];
  return (
    <Container header={<Header variant="h2">{t`Invoices and reports`}</Header>}>
      <SpaceBetween size="l">
        <FormField
          label={t`Usual invoice template`}
          description={t`Printed for customers that have no template of their own.`}
          errorText={fieldErrors("invoice_template_id")}
        >
          <Select
            ariaLabel={t`Usual invoice template`}
            disabled={disabled}
            options={options}
            selectedOption={
              options.find((option) => option.value === form.templateId) ?? {
                value: form.templateId,
                label: form.templateId,
              }
            }
            onChange={({ detail }) => change({ templateId: detail.selectedOption.value ?? "" })}
          />
        </FormField>
        <FormField
          label={t`Tag for bills by tag`}
          description={t`Customers that are billed by tag get one line for every value of this tag.`}
          errorText={fieldErrors("cost_tag_key")}
        >
          <Input
            value={form.costTagKey}
            disabled={disabled}
            autoComplete={false}
            onChange={({ detail }) => change({ costTagKey: detail.value })}
          />
        </FormField>
        <FormField
          label={t`Tags in reports`}
          description={t`Costs are summed by these tags for the portal. After a change, stored months are summed again in the background.`}
          constraintText={t`At most 5 tags`}
          errorText={fieldErrors("report_tag_keys")}
        >
          <TagKeys
            keys={form.reportTagKeys}
            disabled={disabled}
            onChange={(reportTagKeys) => change({ reportTagKeys })}
          />
        </FormField>
      </SpaceBetween>
    </Container>
  );
}

export function ProgramSection({ form, change, disabled, fieldErrors }: SectionProps) {
  const { t } = useLingui();
  return (
    <ExpandableSection variant="container" headerText={t`For programs`}>
      <SpaceBetween size="l">
        <FormField
          label={t`Values of terms`}
          description={t`Which values programs may send when they change a customer's terms.`}
          errorText={fieldErrors("invoice_setting_update")}
        >
          <RadioGroup
            value={form.updateMode}
            items={[
              {
                value: "stated",
                label: t`Only those documented for changes`,
                disabled,
              },
              {
                value: "either",
                label: t`Also those documented for new customers`,
                disabled,
              },
            ]}
            onChange={({ detail }) =>
              change({ updateMode: detail.value === "either" ? "either" : "stated" })
            }
          />
        </FormField>
        <FormField
          label={t`AWS role of agents`}
          description={t`The ARN of the role that agents of version 3 take on. Empty if you have none.`}
          errorText={fieldErrors("agent_role_arn")}
        >
          <Input
            value={form.agentRole}
            disabled={disabled}
            autoComplete={false}
            onChange={({ detail }) => change({ agentRole: detail.value })}
          />
        </FormField>
      </SpaceBetween>
    </ExpandableSection>
  );
}
