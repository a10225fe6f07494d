// The list of invoice templates: who issues invoices, and how they look.
import Badge from "@cloudscape-design/components/badge";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Table from "@cloudscape-design/components/table";
import { Trans, useLingui } from "@lingui/react/macro";
import { useNavigate } from "react-router";
import { useApi } from "../../../api/queries.ts";
import { PageTitle } from "../../../components/page-title.tsx";
import { ErrorState } from "../../../components/query-state.tsx";
import { RouterLink } from "../../../components/router-link.tsx";
import { useMay } from "../../me.ts";

export default function TemplatesPage() {
  const { t } = useLingui();
  const navigate = useNavigate();
  const may = useMay();
  const templates = useApi("/m/core/invoicetemplate");
  const settings = useApi(
    "/m/core/settings",
    {},
    { enabled: may("ReadSettings", "ModifySettings") },
  );
  const standard = settings.data?.invoice_template_id;
  const create = may("ModifyBillingGroup") && (
    <Button variant="primary" onClick={() => navigate("/templates/new")}>
      <Trans>Create an invoice template</Trans>
    </Button>
  );
  if (templates.error !== null && templates.data === undefined)
    return <ErrorState error={templates.error} retry={() => templates.refetch()} />;
  return (
    <>
      <PageTitle title={t`Invoice templates`} />
      <Table
        variant="full-page"
        stickyHeader
        wrapLines
        items={templates.data ?? []}
        trackBy="invoice_template_id"
        loading={templates.isLoading}
        loadingText={t`Loading`}
        ariaLabels={{ tableLabel: t`Invoice templates` }}
        header={
          <Header
            variant="awsui-h1-sticky"
            description={t`A template holds what is printed about the issuer: name, registration number, bank account and notes.`}
            {...(templates.data && { counter: `(${templates.data.length})` })}
            actions={create}
          >
            <Trans>Invoice templates</Trans>
          </Header>
        }
        columnDefinitions={[
          {
            id: "name",
            header: t`Name of the template`,
            minWidth: 130,
            isRowHeader: true,
            cell: (template) => (
              <SpaceBetween direction="horizontal" size="xs">
                <RouterLink to={`/templates/${template.invoice_template_id}`}>
                  {template.name}
                </RouterLink>
                {template.invoice_template_id === standard && (
                  <Badge color="blue">
                    <Trans>Default</Trans>
                  </Badge>
                )}
              </SpaceBetween>
            ),
          },
          { id: "company", header: t`Issuer`, minWidth: 200, cell: (template) => template.company },
          {
            id: "number",
            header: t`Registration number`,
            minWidth: 150,
            cell: (template) => template.registration_number ?? "–",
          },
          {
            id: "bank",
            header: t`Bank account`,
            minWidth: 240,
            cell: (template) => template.bank_account ?? "–",
          },
        ]}
        empty={
          <SpaceBetween size="s">
            <Box>
              <Trans>There is no template, so invoices name no issuer.</Trans>
            </Box>
            {create}
          </SpaceBetween>
        }
      />
    </>
  );
}
