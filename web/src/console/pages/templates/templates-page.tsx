// The list of invoice templates: who issues invoices, and how they look.
import Badge from "@cloudscape-design/components/badge";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import { useNavigate } from "react-router";
import { useApi } from "../../../api/queries.ts";
import { selectRows } from "../../../components/browser-list.ts";
import { useListState } from "../../../components/list-state.ts";
import { PageTitle } from "../../../components/page-title.tsx";
import { RouterLink } from "../../../components/router-link.tsx";
import { type Column, ServerTable, usePageSize } from "../../../components/server-table.tsx";
import { useMay } from "../../me.ts";
import type { InvoiceTemplate } from "./template-form.ts";

const TABLE = "templates";

export default function TemplatesPage() {
  const { t } = useLingui();
  const navigate = useNavigate();
  const may = useMay();
  const control = useListState("name");
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
  const columns = useColumns(standard);
  const { rows, total, readAll } = selectRows(
    templates.data,
    control.state,
    usePageSize(TABLE),
    (template) => Object.fromEntries(columns.map(({ id, csv }) => [id, csv(template)])),
  );
  return (
    <>
      <PageTitle title={t`Invoice templates`} />
      <ServerTable
        id={TABLE}
        title={t`Invoice templates`}
        description={t`A template holds what is printed about the issuer: name, registration number, bank account and notes.`}
        columns={columns}
        rows={rows}
        total={total}
        readAll={readAll}
        control={control}
        loading={templates.isFetching}
        error={templates.error}
        retry={() => templates.refetch()}
        rowId={(template) => template.invoice_template_id}
        searchLabel={t`Name or issuer`}
        actions={create}
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

/** `standard` is the template of customers that have none of their own. */
function useColumns(standard: string | null | undefined): Column<InvoiceTemplate>[] {
  const { t } = useLingui();
  return [
    {
      id: "name",
      header: t`Name of the template`,
      sort: "name",
      width: 240,
      alwaysVisible: true,
      cell: (template) => (
        <SpaceBetween direction="horizontal" size="xs">
          <RouterLink to={`/templates/${template.invoice_template_id}`}>{template.name}</RouterLink>
          {template.invoice_template_id === standard && (
            <Badge color="blue">
              <Trans>Default</Trans>
            </Badge>
          )}
        </SpaceBetween>
      ),
      csv: (template) => template.name,
    },
    {
      id: "company",
      header: t`Issuer`,
      sort: "company",
      width: 280,
      cell: (template) => template.company,
      csv: (template) => template.company,
    },
    {
      id: "number",
      header: t`Registration number`,
      sort: "number",
      width: 190,
      cell: (template) => template.registration_number ?? "–",
      csv: (template) => template.registration_number ?? "",
    },
    {
      id: "bank",
      header: t`Bank account`,
      width: 370,
      cell: (template) => template.bank_account ?? "–",
      csv: (template) => template.bank_account ?? "",
    },
  ];
}
