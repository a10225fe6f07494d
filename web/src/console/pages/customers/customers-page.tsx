// The list of customers: who is billed, by which terms.
import Button from "@cloudscape-design/components/button";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import { useNavigate } from "react-router";
import { useApiPage } from "../../../api/queries.ts";
import { useListState } from "../../../components/list-state.ts";
import { PageTitle } from "../../../components/page-title.tsx";
import { toPercent } from "../../../components/percent.ts";
import { RouterLink } from "../../../components/router-link.tsx";
import { type Column, ServerTable, usePageSize } from "../../../components/server-table.tsx";
import { formatVendor } from "../../../components/vendor.ts";
import { useMay } from "../../me.ts";
import type { BillingGroup } from "../customer/customer-page.tsx";

const TABLE = "customers";

export default function CustomersPage() {
  const { t } = useLingui();
  const navigate = useNavigate();
  const may = useMay();
  const control = useListState("billinggroup_id");
  const pageSize = usePageSize(TABLE);
  const { page, search, sort, descending } = control.state;
  const groups = useApiPage("/m/core/billinggroup", {
    query: {
      limit: pageSize,
      offset: (page - 1) * pageSize,
      search,
      sort: sort === "" ? "" : `${descending ? "-" : ""}${sort}`,
    },
  });
  const columns = useColumns();
  const actions = may("ModifyBillingGroup") && (
    <SpaceBetween direction="horizontal" size="xs">
      <Button onClick={() => navigate("/customers/import")}>
        <Trans>Add from CSV</Trans>
      </Button>
      <Button variant="primary" onClick={() => navigate("/customers/new")}>
        <Trans>Add a customer</Trans>
      </Button>
    </SpaceBetween>
  );
  return (
    <>
      <PageTitle title={t`Customers`} />
      <ServerTable
        id={TABLE}
        title={t`Customers`}
        description={t`Each customer is a billing group: it gets one invoice per vendor and month.`}
        columns={columns}
        rows={groups.data?.data}
        total={groups.data?.total}
        readAll={groups.readAll}
        control={control}
        loading={groups.isLoading}
        error={groups.error}
        retry={() => groups.refetch()}
        rowId={(group) => group.company_id}
        searchLabel={t`Find by name or id`}
        actions={actions}
        empty={
          <SpaceBetween size="s">
            <b>
              <Trans>There are no customers yet.</Trans>
            </b>
            {actions}
          </SpaceBetween>
        }
      />
    </>
  );
}

function useColumns(): Column<BillingGroup>[] {
  const { t } = useLingui();
  const discounts = (group: BillingGroup) =>
    Object.entries(group.invoices)
      .map(([vendor, setting]) => `${formatVendor(vendor)} ${toPercent(setting.discount_rate)}%`)
      .join(", ");
  return [
    {
      id: "id",
      header: t`Customer id`,
      sort: "billinggroup_id",
      width: 150,
      cell: (group) => group.billinggroup_id,
      csv: (group) => group.billinggroup_id,
    },
    {
      id: "company",
      header: t`Company name`,
      sort: "name",
      width: 260,
      alwaysVisible: true,
      cell: (group) => <RouterLink to={`/customers/${group.company_id}`}>{group.name}</RouterLink>,
      csv: (group) => group.name,
    },
    {
      id: "name",
      header: t`Billing group name`,
      sort: "billinggroup_name",
      width: 210,
      cell: (group) => group.billinggroup_name,
      csv: (group) => group.billinggroup_name,
    },
    {
      id: "accounts",
      header: t`Accounts`,
      width: 110,
      numeric: true,
      cell: (group) => group.account.length,
      csv: (group) => String(group.account.length),
    },
    {
      id: "project",
      header: t`Project`,
      sort: "project_code",
      width: 150,
      cell: (group) => group.project_label ?? "–",
      csv: (group) => group.project_label ?? "",
    },
    {
      id: "discount",
      header: t`Discount`,
      width: 190,
      cell: (group) => <Discounts text={discounts(group)} />,
      csv: discounts,
    },
  ];
}

function Discounts({ text }: { text: string }) {
  return text === "" ? <Trans>No terms yet</Trans> : text;
}
