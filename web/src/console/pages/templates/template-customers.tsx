// Which customers use a template, and a field to add one.
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Container from "@cloudscape-design/components/container";
import FormField from "@cloudscape-design/components/form-field";
import Header from "@cloudscape-design/components/header";
import Select from "@cloudscape-design/components/select";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { useApi, useApiPage, useChange } from "../../../api/queries.ts";
import { useNotifications } from "../../../components/notifications.tsx";
import { QueryState } from "../../../components/query-state.tsx";
import { RouterLink } from "../../../components/router-link.tsx";
import { useMay } from "../../me.ts";
import type { InvoiceTemplate } from "./template-form.ts";

const SHOWN = 50;

export function TemplateCustomers({ template }: { template: InvoiceTemplate }) {
  const may = useMay();
  const groups = useApi("/m/core/billinggroup");
  return (
    <QueryState query={groups}>
      {(all) => {
        const users = all.filter(
          (group) => group.invoice_template_id === template.invoice_template_id,
        );
        const others = users.length - SHOWN;
        return (
          <Container
            header={
              <Header variant="h2" counter={`(${users.length})`}>
                <Trans>Customers with this template</Trans>
              </Header>
            }
          >
            <SpaceBetween size="m">
              {users.length === 0 && (
                <Box color="text-body-secondary">
                  <Trans>No customer uses this template.</Trans>
                </Box>
              )}
              <SpaceBetween direction="horizontal" size="s">
                {users.slice(0, SHOWN).map((group) => (
                  <RouterLink
                    key={group.company_id}
                    to={`/customers/${group.company_id}?tab=details`}
                  >
                    {group.billinggroup_name}
                  </RouterLink>
                ))}
              </SpaceBetween>
              {others > 0 && (
                <Box color="text-body-secondary">
                  <Trans>and {others} more</Trans>
                </Box>
              )}
              {may("ModifyBillingGroup") && <AssignCustomer template={template} />}
            </SpaceBetween>
          </Container>
        );
      }}
    </QueryState>
  );
}

function AssignCustomer({ template }: { template: InvoiceTemplate }) {
  const { t } = useLingui();
  const { notify, notifyError } = useNotifications();
  const [search, setSearch] = useState("");
  const [chosen, setChosen] = useState<{ value: string; label: string } | null>(null);
  const groups = useApiPage("/m/core/billinggroup", { query: { limit: 25, search } });
  const assign = useChange(
    (client, company: string) =>
      client.post("/m/core/billinggroup/{company_id}/invoicetemplate", {
        path: { company_id: company },
        body: { invoice_template_id: template.invoice_template_id },
      }),
    {
      onSuccess: () => {
        notify({ type: "success", content: t`${chosen?.label ?? ""} uses ${template.name} now.` });
        setChosen(null);
      },
      onError: notifyError,
    },
  );
  const options = (groups.data?.data ?? [])
    .filter((group) => group.invoice_template_id !== template.invoice_template_id)
    .map((group) => ({
      value: group.company_id,
      label: group.name,
      description: group.billinggroup_id,
    }));
  return (
    <FormField
      label={t`Use this template for another customer`}
      secondaryControl={
        <Button
          disabled={chosen === null}
          loading={assign.isPending}
          onClick={() => chosen !== null && assign.mutate(chosen.value)}
        >
          <Trans>Assign</Trans>
        </Button>
      }
    >
      <Select
        options={options}
        selectedOption={chosen}
        filteringType="manual"
        filteringAriaLabel={t`Find by name or id`}
        filteringPlaceholder={t`Find by name or id`}
        placeholder={t`Choose a customer`}
        empty={t`Nothing found`}
        statusType={groups.isFetching ? "loading" : "finished"}
        loadingText={t`Loading`}
        onLoadItems={({ detail }) => setSearch(detail.filteringText)}
        onChange={({ detail }) =>
          setChosen({
            value: detail.selectedOption.value ?? "",
            label: detail.selectedOption.label ?? "",
          })
        }
      />
    </FormField>
  );
}
