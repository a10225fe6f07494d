// Chooses the template that a customer's invoices are printed with.
import Container from "@cloudscape-design/components/container";
import FormField from "@cloudscape-design/components/form-field";
import Header from "@cloudscape-design/components/header";
import Select from "@cloudscape-design/components/select";
import { Trans, useLingui } from "@lingui/react/macro";
import { useApi, useChange } from "../../../api/queries.ts";
import type { Versioned } from "../../../components/editing.ts";
import { useNotifications } from "../../../components/notifications.tsx";
import { RouterLink } from "../../../components/router-link.tsx";
import { useMay } from "../../me.ts";
import type { BillingGroup } from "./customer-page.tsx";

export function CustomerTemplate({ loaded }: { loaded: Versioned<BillingGroup> }) {
  const { t } = useLingui();
  const may = useMay();
  const { notify, notifyError } = useNotifications();
  const templates = useApi("/m/core/invoicetemplate");
  const { company_id, invoice_template_id } = loaded.data;
  const link = useChange(
    (client, template: string) =>
      client.post("/m/core/billinggroup/{company_id}/invoicetemplate", {
        path: { company_id },
        body: { invoice_template_id: template === "" ? null : template },
        ifMatch: loaded.version,
      }),
    {
      onSuccess: () => notify({ type: "success", content: t`The invoice template was saved.` }),
      onError: notifyError,
    },
  );
  const options = [
    { value: "", label: t`As the organisation` },
    ...(templates.data ?? []).map((template) => ({
      value: template.invoice_template_id,
      label: template.name,
      description: template.company,
    })),
  ];
  const chosen = link.isPending ? link.variables : (invoice_template_id ?? "");
  return (
    <Container
      header={
        <Header
          variant="h2"
          actions={
            invoice_template_id !== null && (
              <RouterLink to={`/templates/${invoice_template_id}`}>
                <Trans>See the template</Trans>
              </RouterLink>
            )
          }
        >
          <Trans>Invoice template</Trans>
        </Header>
      }
    >
      <FormField
        label={t`Template of this customer`}
        description={t`It holds the issuer, the bank account and the notes of printed invoices. The choice is saved at once.`}
      >
        <Select
          options={options}
          disabled={!may("ModifyBillingGroup") || link.isPending}
          statusType={templates.isLoading ? "loading" : "finished"}
          selectedOption={options.find((option) => option.value === chosen) ?? null}
          onChange={({ detail }) => link.mutate(detail.selectedOption.value ?? "")}
        />
      </FormField>
    </Container>
  );
}
