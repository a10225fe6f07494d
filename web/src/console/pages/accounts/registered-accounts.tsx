// The accounts that belong to a customer.
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import ButtonDropdown from "@cloudscape-design/components/button-dropdown";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { useApiPage } from "../../../api/queries.ts";
import type { ListControl } from "../../../components/list-state.ts";
import { RouterLink } from "../../../components/router-link.tsx";
import { type Column, ServerTable, usePageSize } from "../../../components/server-table.tsx";
import { formatVendor } from "../../../components/vendor.ts";
import type { Account } from "../../account-select.tsx";
import { useMay } from "../../me.ts";
import { CreateAccountDialog, EditAccountDialog } from "./account-dialogs.tsx";
import { AccountFilters, PayerBadge } from "./accounts-page.tsx";
import { AssignDialog } from "./assign-dialog.tsx";
import { DeleteAccountDialog } from "./delete-account-dialog.tsx";
import { GroupFilter } from "./group-filter.tsx";

type Dialog =
  | { action: "create" }
  | { action: "move"; accounts: Account[] }
  | { action: "edit" | "delete"; account: Account };

interface RegisteredAccountsProps {
  control: ListControl;
  vendor: string;
}

export function RegisteredAccounts({ control, vendor }: RegisteredAccountsProps) {
  const { t } = useLingui();
  const may = useMay();
  const size = usePageSize("accounts");
  const [selected, setSelected] = useState<Account[]>([]);
  const [dialog, setDialog] = useState<Dialog>();
  const { state } = control;
  const mayChange = may("ModifyAccount");
  const accounts = useApiPage(
    "/m/core/accts",
    {
      query: {
        vendor,
        limit: size,
        offset: (state.page - 1) * size,
        search: state.search,
        sort: state.sort === "" ? undefined : `${state.descending ? "-" : ""}${state.sort}`,
        company_id: control.filter("group"),
        etags: true,
      },
    },
    { enabled: vendor !== "" },
  );
  const end = (done: boolean) => {
    setDialog(undefined);
    if (done) setSelected([]);
  };
  return (
    <>
      <ServerTable
        id="accounts"
        title={t`Accounts`}
        description={t`The customers' accounts at the vendors. Costs are billed to the customer of their account.`}
        columns={useColumns(mayChange ? setDialog : undefined)}
        rows={accounts.data?.data}
        total={accounts.data?.total}
        readAll={accounts.readAll}
        control={control}
        loading={accounts.isLoading}
        error={accounts.error}
        retry={() => accounts.refetch()}
        rowId={(row) => row.customer_id}
        rowLabel={(row) => `${row.customer_name} ${row.customer_id}`}
        searchLabel={t`Search by name or number`}
        {...(mayChange && { selected, onSelect: setSelected })}
        filters={
          <SpaceBetween direction="horizontal" size="xs" alignItems="end">
            <AccountFilters control={control} vendor={vendor} onChange={() => setSelected([])} />
            <GroupFilter
              companyId={control.filter("group")}
              onChange={(companyId) => control.setFilter("group", companyId)}
            />
          </SpaceBetween>
        }
        actions={
          mayChange && (
            <SpaceBetween direction="horizontal" size="xs">
              <Button
                disabled={selected.length === 0}
                onClick={() => setDialog({ action: "move", accounts: selected })}
              >
                <Trans>Assign to another customer</Trans>
              </Button>
              <Button variant="primary" onClick={() => setDialog({ action: "create" })}>
                <Trans>Add an account</Trans>
              </Button>
            </SpaceBetween>
          )
        }
        narrowing={["group"]}
        empty={<NoAccounts vendor={vendor} />}
      />
      {dialog?.action === "create" && <CreateAccountDialog vendor={vendor} onEnd={end} />}
      {dialog?.action === "edit" && <EditAccountDialog account={dialog.account} onEnd={end} />}
      {dialog?.action === "delete" && <DeleteAccountDialog account={dialog.account} onEnd={end} />}
      {dialog?.action === "move" && (
        <AssignDialog
          vendor={vendor}
          accounts={dialog.accounts.map(({ customer_id, customer_name }) => ({
            customer_id,
            name: customer_name,
          }))}
          onEnd={end}
        />
      )}
    </>
  );
}

/** Without `open`, the rows have no actions. */
function useColumns(open?: (dialog: Dialog) => void): Column<Account>[] {
  const { t } = useLingui();
  const columns: Column<Account>[] = [
    {
      id: "name",
      header: t`Name`,
      cell: (row) => (
        <SpaceBetween direction="horizontal" size="xs">
          <span>{row.customer_name}</span>
          {row.payer && <PayerBadge />}
        </SpaceBetween>
      ),
      csv: (row) => row.customer_name,
      sort: "customer_name",
      width: 200,
      alwaysVisible: true,
    },
    {
      id: "customer_id",
      header: t`Account number`,
      cell: (row) => row.customer_id,
      csv: (row) => row.customer_id,
      sort: "customer_id",
      width: 155,
    },
    {
      id: "group",
      header: t`Customer`,
      cell: (row) => (
        <RouterLink to={`/customers/${row.company_id}`}>{row.billinggroup_name}</RouterLink>
      ),
      csv: (row) => row.billinggroup_name,
      sort: "billinggroup_name",
      width: 170,
    },
    {
      id: "billinggroup_id",
      header: t`Customer id`,
      cell: (row) => row.billinggroup_id,
      csv: (row) => row.billinggroup_id,
      sort: "billinggroup_id",
      width: 140,
    },
    {
      id: "account_id",
      header: t`Payer`,
      cell: (row) => row.account_id,
      csv: (row) => row.account_id,
      sort: "account_id",
      width: 165,
    },
    {
      id: "note",
      header: t`Note`,
      cell: (row) => row.note || "–",
      csv: (row) => row.note ?? "",
      width: 100,
    },
  ];
  if (open === undefined) return columns;
  return [
    ...columns,
    {
      id: "action",
      header: t`Action`,
      cell: (row) => (
        <ButtonDropdown
          variant="inline-icon"
          ariaLabel={t`Actions for ${row.customer_name}`}
          expandToViewport
          items={[
            { id: "edit", text: t`Edit` },
            { id: "delete", text: t`Delete` },
          ]}
          onItemClick={({ detail }) =>
            open({ action: detail.id === "edit" ? "edit" : "delete", account: row })
          }
        />
      ),
      csv: () => "",
      width: 85,
    },
  ];
}

function NoAccounts({ vendor }: { vendor: string }) {
  const name = formatVendor(vendor);
  return (
    <SpaceBetween size="xs">
      <b>
        <Trans>{name}: no accounts</Trans>
      </b>
      <Box color="text-body-secondary">
        <Trans>
          Add accounts one by one, or all at once from a CSV file on the customers' page.
        </Trans>{" "}
        <RouterLink to="/customers">
          <Trans>Go to the customers</Trans>
        </RouterLink>
      </Box>
    </SpaceBetween>
  );
}
