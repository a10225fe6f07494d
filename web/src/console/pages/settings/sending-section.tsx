// From when customers see invoices, and where their answers to mails go.
import Container from "@cloudscape-design/components/container";
import FormField from "@cloudscape-design/components/form-field";
import Header from "@cloudscape-design/components/header";
import Input from "@cloudscape-design/components/input";
import RadioGroup from "@cloudscape-design/components/radio-group";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useLingui } from "@lingui/react/macro";
import type { SectionProps } from "./setting-fields.ts";

export function SendingSection({ form, change, disabled, fieldErrors }: SectionProps) {
  const { t } = useLingui();
  return (
    <Container header={<Header variant="h2">{t`Sending invoices`}</Header>}>
      <SpaceBetween size="l">
        <FormField label={t`Customers see invoices in the portal`}>
          <RadioGroup
            value={form.portalInvoices}
            items={[
              { value: "created", label: t`From their creation`, disabled },
              { value: "sent", label: t`Once they were sent`, disabled },
            ]}
            onChange={({ detail }) =>
              change({ portalInvoices: detail.value === "sent" ? "sent" : "created" })
            }
          />
        </FormField>
        <FormField
          label={t`Address for answers to mailed invoices`}
          errorText={fieldErrors("invoice_reply_to")}
        >
          <Input
            type="email"
            value={form.replyTo}
            disabled={disabled}
            onChange={({ detail }) => change({ replyTo: detail.value })}
          />
        </FormField>
      </SpaceBetween>
    </Container>
  );
}
