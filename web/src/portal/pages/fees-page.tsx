// One-off fees, credits and refunds of a month.
import ContentLayout from "@cloudscape-design/components/content-layout";
import Header from "@cloudscape-design/components/header";
import SegmentedControl from "@cloudscape-design/components/segmented-control";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useLingui } from "@lingui/react/macro";
import { useApi } from "../../api/queries.ts";
import type { components } from "../../api/schema.ts";
import { Amount } from "../../components/amount.tsx";
import { formatCurrency } from "../../components/amount-format.ts";
import { useListState } from "../../components/list-state.ts";
import { PageTitle } from "../../components/page-title.tsx";
import type { Column } from "../../components/server-table.tsx";
import { formatVendor } from "../../components/vendor.ts";
import { BrowserTable } from "../browser-table.tsx";
import { useFlag, useNewestMonth } from "../me.ts";
import { MonthSelect } from "../month-select.tsx";
import { FEE_FLAGS } from "../navigation.tsx";
import { PriceNotes } from "../price-notes.tsx";
import { Totals } from "../totals.tsx";

type Fee = components["schemas"]["CustomerFee"];
type Kind = keyof typeof FEE_FLAGS;

export default function FeesPage() {
  const { t } = useLingui();
  const flag = useFlag();
  const control = useListState();
  const names: Record<Kind, string> = {
    fee: t`Fees`,
    credit: t`Credits`,
    refund: t`Refunds`,
    other: t`Other`,
  };
  const kinds = (Object.keys(FEE_FLAGS) as Kind[]).filter((kind) => flag(FEE_FLAGS[kind]));
  const wanted = control.filter("kind") as Kind;
  const kind = kinds.includes(wanted) ? wanted : (kinds[0] ?? "fee");
  const newest = useNewestMonth();
  const month = control.filter("month") || newest;
  const fees = useApi("/m/portal/fees", { query: { month, kind } });
  const title = t`Fees and credits`;
  return (
    <ContentLayout header={<Header variant="h1">{title}</Header>}>
      <PageTitle title={title} />
      <SpaceBetween size="l">
        <MonthSelect month={month} onChange={(chosen) => control.setFilter("month", chosen)} />
        <SegmentedControl
          label={t`Kind`}
          selectedId={kind}
          options={kinds.map((id) => ({ id, text: names[id] }))}
          onChange={({ detail }) => control.setFilter("kind", detail.selectedId)}
        />
        {fees.data !== undefined && <PriceNotes unpriced={fees.data.unpriced} />}
        <BrowserTable<Fee>
          id="portal-fees"
          title={names[kind]}
          embedded
          columns={useColumns()}
          rows={fees.data?.rows}
          query={fees}
          rowId={(fee) => JSON.stringify(fee)}
          searchLabel={t`Description or account`}
          empty={t`There is nothing of this kind in this month.`}
          footer={(found) => (
            <Totals
              rows={found.map((fee) => ({
                currency: fee.currency,
                amounts: { [month]: fee.amount },
              }))}
              months={[month]}
            />
          )}
        />
      </SpaceBetween>
    </ContentLayout>
  );
}

function useColumns(): Column<Fee>[] {
  const { t } = useLingui();
  const account = (fee: Fee) => `${fee.customer_name} ${fee.customer_id}`;
  const state = (fee: Fee) =>
    fee.provisional ? t`Provisional` : t({ message: "Invoiced", context: "fee" });
  return [
    {
      id: "description",
      header: t`Description`,
      sort: "description",
      width: 280,
      cell: (fee) => fee.description,
      csv: (fee) => fee.description,
    },
    {
      id: "amount",
      header: t`Amount`,
      sort: "amount",
      numeric: true,
      width: 150,
      cell: (fee) => <Amount value={fee.amount} currency={fee.currency} />,
      csv: (fee) => String(fee.amount),
    },
    { id: "account", header: t`Account`, sort: "account", width: 240, cell: account, csv: account },
    {
      id: "vendor",
      header: t`Vendor`,
      sort: "vendor",
      width: 125,
      cell: (fee) => formatVendor(fee.vendor),
      csv: (fee) => formatVendor(fee.vendor),
    },
    { id: "state", header: t`State`, sort: "state", width: 120, cell: state, csv: state },
    {
      id: "currency",
      header: t`Currency`,
      width: 100,
      cell: (fee) => formatCurrency(fee.currency),
      csv: (fee) => formatCurrency(fee.currency),
    },
  ];
}
