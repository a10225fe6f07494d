// What customers owe: sent invoices with their open balances, and what is overdue.
import Button from "@cloudscape-design/components/button";
import SegmentedControl from "@cloudscape-design/components/segmented-control";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import { keepPreviousData } from "@tanstack/react-query";
import { useNavigate } from "react-router";
import { useApi, useApiPage } from "../../../api/queries.ts";
import type { components } from "../../../api/schema.ts";
import { type ListControl, useListState } from "../../../components/list-state.ts";
import { PageTitle } from "../../../components/page-title.tsx";
import { RouterLink } from "../../../components/router-link.tsx";
import { ServerTable, usePageSize } from "../../../components/server-table.tsx";
import { useMay } from "../../me.ts";
import { useReceivableColumns } from "./receivable-columns.tsx";
import { ReceivableTotals } from "./receivable-totals.tsx";

export type Receivable = components["schemas"]["Receivable"];

const TABLE = "receivables";
const OPEN = "open"; // the balance that the service lists without a filter

export default function ReceivablesPage() {
  const { t } = useLingui();
  const control = useListState("due_date");
  const pageSize = usePageSize(TABLE);
  const columns = useReceivableColumns();
  const { page, search, sort, descending } = control.state;
  const selected = { search, balance: control.filter("balance") || OPEN };
  const found = useApiPage("/m/core/receivables", {
    query: {
      ...selected,
      limit: pageSize,
      offset: (page - 1) * pageSize,
      sort: `${descending ? "-" : ""}${sort}`,
    },
  });
  const totals = useApi(
    "/m/core/receivables/totals",
    { query: selected },
    { placeholderData: keepPreviousData },
  );
  return (
    <>
      <PageTitle title={t`Receivables`} />
      <ServerTable<Receivable>
        id={TABLE}
        title={t`Receivables`}
        description={t`Invoices that were sent, and what is left to pay.`}
        columns={columns}
        rows={found.data?.data}
        total={found.data?.total}
        readAll={found.readAll}
        control={control}
        loading={found.isLoading}
        error={found.error}
        retry={() => found.refetch()}
        rowId={(row) => `${row.month} ${row.company_id} ${row.vendor}`}
        searchLabel={t`Customer or invoice number`}
        filters={<BalanceFilter control={control} />}
        actions={<ImportButton />}
        narrowing={["balance"]}
        empty={<NothingOpen />}
        footer={<ReceivableTotals totals={totals.data ?? []} />}
      />
    </>
  );
}

function BalanceFilter({ control }: { control: ListControl }) {
  const { t } = useLingui();
  return (
    <SegmentedControl
      label={t`Show`}
      selectedId={control.filter("balance") || OPEN}
      options={[
        { id: OPEN, text: t({ message: "Open", context: "balance" }) },
        { id: "overdue", text: t`Overdue` },
        { id: "settled", text: t({ message: "Paid", context: "invoice" }) },
        { id: "all", text: t`All` },
      ]}
      onChange={({ detail }) =>
        control.setFilter("balance", detail.selectedId === OPEN ? "" : detail.selectedId)
      }
    />
  );
}

function ImportButton() {
  const navigate = useNavigate();
  const mayRecord = useMay()("ModifyInvoice");
  if (!mayRecord) return null;
  return (
    <Button onClick={() => navigate("/receivables/import")}>
      <Trans>Record payments from CSV</Trans>
    </Button>
  );
}

function NothingOpen() {
  return (
    <SpaceBetween size="xs">
      <b>
        <Trans>Nothing is left to pay</Trans>
      </b>
      <span>
        <Trans>Invoices appear here once they are marked as sent.</Trans>{" "}
        <RouterLink to="/invoices">
          <Trans>See the invoices</Trans>
        </RouterLink>
      </span>
    </SpaceBetween>
  );
}
