// The accounts that have costs and belong to nobody, each with a suggested customer.
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { useApiPage } from "../../../api/queries.ts";
import type { components } from "../../../api/schema.ts";
import { Amount } from "../../../components/amount.tsx";
import type { ListControl } from "../../../components/list-state.ts";
import { formatMonth } from "../../../components/month.ts";
import { useNotifications } from "../../../components/notifications.tsx";
import { RouterLink } from "../../../components/router-link.tsx";
import { type Column, ServerTable, usePageSize } from "../../../components/server-table.tsx";
import { formatVendorMonth } from "../../../components/vendor.ts";
import { useLanguage } from "../../../language/language.tsx";
import { MonthSelect, useKnownMonths } from "../../choices.tsx";
import { useMay } from "../../me.ts";
import { AccountFilters } from "./accounts-page.tsx";
import { type AccountToAssign, useAssign } from "./assign.tsx";
import { AssignDialog } from "./assign-dialog.tsx";

type Unassigned = components["schemas"]["UnassignedAccount"];

interface UnassignedAccountsProps {
  control: ListControl;
  vendor: string;
}

export function UnassignedAccounts({ control, vendor }: UnassignedAccountsProps) {
  const { t } = useLingui();
  const may = useMay();
  const { notifyError } = useNotifications();
  const size = usePageSize("unassigned-accounts");
  const known = useKnownMonths();
  const [selected, setSelected] = useState<Unassigned[]>([]);
  const [assigned, setAssigned] = useState<Unassigned[]>();
  const month = control.filter("month") || (known[0] ?? "");
  const mayChange = may("ModifyAccount");
  const accounts = useApiPage(
    "/m/core/accts/unassigned",
    {
      query: {
        vendor,
        month,
        limit: size,
        offset: (control.state.page - 1) * size,
        search: control.state.search,
      },
    },
    { enabled: vendor !== "" },
  );
  const accept = useAssign(vendor, month, () => setSelected([]));
  const columns = useColumns(
    mayChange
      ? {
          assign: (row) => setAssigned([row]),
          accept: (row) =>
            row.suggestion !== null &&
            accept.mutate(
              { group: row.suggestion, accounts: [toAssign(row)] },
              { onError: notifyError },
            ),
          accepting: accept.isPending ? accept.variables.accounts[0]?.customer_id : undefined,
        }
      : undefined,
  );
  return (
    <>
      <ServerTable
        id="unassigned-accounts"
        title={t`Accounts that belong to nobody`}
        description={
          accounts.data?.total === 0
            ? undefined
            : t`They have costs that no customer pays. Choose the customer of each.`
        }
        columns={columns}
        rows={accounts.data?.data}
        total={accounts.data?.total}
        readAll={accounts.readAll}
        control={control}
        loading={accounts.isLoading}
        error={accounts.error}
        retry={() => accounts.refetch()}
        rowId={(row) => row.customer_id}
        rowLabel={(row) => `${row.customer_id} ${row.name ?? ""}`}
        searchLabel={t`Search by name or number`}
        {...(mayChange && { selected, onSelect: setSelected })}
        filters={
          <SpaceBetween direction="horizontal" size="xs" alignItems="end">
            <AccountFilters control={control} vendor={vendor} onChange={() => setSelected([])} />
            <MonthSelect
              value={month}
              onChange={(value) => {
                setSelected([]);
                control.setFilter("month", value);
              }}
            />
          </SpaceBetween>
        }
        actions={
          mayChange && (
            <Button
              variant="primary"
              disabled={selected.length === 0}
              onClick={() => setAssigned(selected)}
            >
              <Trans>Assign to a customer</Trans>
            </Button>
          )
        }
        empty={<AllAssigned month={month} vendor={vendor} />}
      />
      {assigned !== undefined && (
        <AssignDialog
          isNew
          vendor={vendor}
          month={month}
          accounts={assigned.map(toAssign)}
          suggested={assigned.length === 1 ? (assigned[0]?.suggestion ?? undefined) : undefined}
          onEnd={(done) => {
            setAssigned(undefined);
            if (done) setSelected([]);
          }}
        />
      )}
    </>
  );
}

function toAssign({ customer_id, account_id, name }: Unassigned): AccountToAssign {
  return { customer_id, account_id, ...(name !== null && { name }) };
}

interface RowActions {
  assign: (row: Unassigned) => void;
  accept: (row: Unassigned) => void;
  /** The account whose suggestion is being accepted. */
  accepting: string | undefined;
}

/** Without actions, the rows are only shown. */
function useColumns(actions: RowActions | undefined): Column<Unassigned>[] {
  const { t } = useLingui();
  const { language } = useLanguage();
  const columns: Column<Unassigned>[] = [
    {
      id: "customer_id",
      header: t`Account`,
      cell: (row) => (
        <>
          {row.customer_id}
          <Box variant="small" color="text-body-secondary" display="block">
            {row.name ?? t`The files do not name it`}
          </Box>
        </>
      ),
      csv: (row) => row.customer_id,
      width: 235,
      alwaysVisible: true,
    },
    {
      id: "account_id",
      header: t`Payer`,
      cell: (row) => row.account_id,
      csv: (row) => row.account_id,
      width: 150,
    },
    {
      id: "month",
      header: t`Month`,
      cell: (row) => formatMonth(row.month, language),
      csv: (row) => row.month,
      width: 145,
    },
    {
      id: "costs",
      header: t`Costs of the month`,
      cell: (row) =>
        row.costs.map(({ cost, currency }) => (
          <div key={currency}>
            <Amount value={cost} currency={currency} />
          </div>
        )),
      csv: (row) => row.costs.map(({ cost, currency }) => `${cost} ${currency}`).join(" "),
      width: 135,
      numeric: true,
    },
    {
      id: "suggestion",
      header: t`Suggested customer`,
      cell: (row) => <Suggestion account={row} actions={actions} />,
      csv: (row) => row.suggestion?.billinggroup_name ?? "",
      width: 195,
    },
  ];
  if (actions === undefined) return columns;
  return [
    ...columns,
    {
      id: "action",
      header: t`Action`,
      cell: (row) => (
        <Button
          variant="inline-link"
          wrapText={false}
          ariaLabel={t`Choose the customer of ${row.customer_id}`}
          onClick={() => actions.assign(row)}
        >
          <Trans>Choose a customer</Trans>
        </Button>
      ),
      csv: () => "",
      width: 185,
    },
  ];
}

interface SuggestionProps {
  account: Unassigned;
  actions: RowActions | undefined;
}

function Suggestion({ account, actions }: SuggestionProps) {
  const { t } = useLingui();
  const { suggestion } = account;
  if (suggestion === null)
    return (
      <Box color="text-body-secondary" tagOverride="span">
        <Trans>None</Trans>
      </Box>
    );
  const name = suggestion.billinggroup_name;
  return (
    <SpaceBetween size="xs" direction="horizontal" alignItems="center">
      <div>
        <RouterLink to={`/customers/${suggestion.company_id}`}>{name}</RouterLink>
        <Box variant="small" color="text-body-secondary" display="block">
          {suggestion.reason === "former_group" ? (
            <Trans>It belonged to this customer before</Trans>
          ) : (
            <Trans>The name is similar ({suggestion.similarity}%)</Trans>
          )}
        </Box>
      </div>
      {actions !== undefined && (
        <Button
          ariaLabel={t`Assign ${account.customer_id} to ${name}`}
          loading={actions.accepting === account.customer_id}
          onClick={() => actions.accept(account)}
        >
          <Trans>Accept</Trans>
        </Button>
      )}
    </SpaceBetween>
  );
}

function AllAssigned({ month, vendor }: { month: string; vendor: string }) {
  const { language } = useLanguage();
  const name = formatVendorMonth(month, vendor, language);
  return (
    <SpaceBetween size="xs">
      <b>
        <Trans>Every account with costs in {name} belongs to a customer.</Trans>
      </b>
      {month !== "" && (
        <RouterLink to={`/months/${month}/${vendor}`}>
          <Trans>Back to the month</Trans>
        </RouterLink>
      )}
    </SpaceBetween>
  );
}
