// The tables of reservations, their use, recommendations and savings plans.
import Box from "@cloudscape-design/components/box";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useLingui } from "@lingui/react/macro";
import type { Decimal } from "../api/exact-json.ts";
import { useApi } from "../api/queries.ts";
import type { components } from "../api/schema.ts";
import { Amount } from "../components/amount.tsx";
import { formatExact } from "../components/amount-format.ts";
import { formatDate } from "../components/month.ts";
import type { Column } from "../components/server-table.tsx";
import { usePaymentOptions, useTerms } from "../components/vendor-words.ts";
import { useLanguage } from "../language/language.tsx";
import { BrowserTable } from "./browser-table.tsx";
import { PriceNotes } from "./price-notes.tsx";

type Reservation = components["schemas"]["Reservation"];
type ReservationUse = components["schemas"]["ReservationUse"];
type Recommendation = components["schemas"]["Recommendation"];
type SavingsPlan = components["schemas"]["SavingsPlan"];

interface PartProps {
  month: string;
  title: string;
}

export function Reservations({ month, title }: PartProps) {
  const { t } = useLingui();
  const list = useApi("/m/portal/ri", { query: { month } });
  const state = useStateText();
  const payment = usePaymentText();
  const account = useAccountColumn<Reservation>();
  const end = useEndColumn<Reservation>();
  return (
    <SpaceBetween size="s">
      {list.data && <PriceNotes months={list.data.months} unpriced={list.data.unpriced} />}
      <BrowserTable<Reservation>
        id="portal-reservations"
        title={title}
        embedded
        columns={[
          text("type", t`Type`, 120, (row) => `${row.service} ${row.instance_type}`),
          account,
          figure("number", t`Instances`, (row) => row.number, 132),
          text("region", t`Region`, 150, (row) => row.zone || row.region),
          text("terms", t`Payment`, 135, payment),
          end,
          text("state", t`State`, 100, (row) => state(row.state)),
          money("fee", t`Fee of the month`, (row) => row.fee),
        ]}
        rows={list.data?.rows}
        query={list}
        rowId={(row) => row.id}
        searchLabel={t`Account or type`}
        empty={t`There are no reserved instances.`}
      />
    </SpaceBetween>
  );
}

export function ReservationUses({ month, title }: PartProps) {
  const { t } = useLingui();
  const list = useApi("/m/portal/ri/utilization", { query: { month } });
  const account = useAccountColumn<ReservationUse>();
  return (
    <BrowserTable<ReservationUse>
      id="portal-reservation-use"
      title={title}
      description={t`How many of the hours that you paid for were used.`}
      embedded
      columns={[
        text("type", t`Type`, 180, (row) => `${row.service} ${row.instance_type}`),
        account,
        figure("number", t`Instances`, (row) => row.number),
        figure("bought", t`Hours bought`, (row) => row.hours_bought),
        figure("used", t`Hours used`, (row) => row.hours_used),
        figure("share", t`Used (%)`, (row) => row.percentage),
      ]}
      rows={list.data?.rows}
      query={list}
      rowId={(row) => row.id}
      searchLabel={t`Account or type`}
      empty={t`No reserved instance was charged in this month.`}
    />
  );
}

export function Recommendations({ month, title }: PartProps) {
  const { t } = useLingui();
  const list = useApi("/m/portal/ri/recommendation", { query: { month } });
  const account = useAccountColumn<Recommendation>();
  return (
    <SpaceBetween size="s">
      {list.data && <PriceNotes months={list.data.months} unpriced={list.data.unpriced} />}
      <BrowserTable<Recommendation>
        id="portal-recommendations"
        title={title}
        description={t`Instances that ran steadily without a reservation or savings plan. No saving is calculated.`}
        embedded
        columns={[
          text("type", t`Type`, 200, (row) => `${row.service} ${row.instance_type}`),
          account,
          text("region", t`Region`, 140, (row) => row.region),
          figure("number", t`Instances`, (row) => row.number),
          figure("hours", t`Hours`, (row) => row.hours),
          money("amount", t`Cost on demand`, (row) => row.amount),
        ]}
        rows={list.data?.rows}
        query={list}
        rowId={(row) => JSON.stringify(row)}
        searchLabel={t`Account or type`}
        empty={t`No instance ran steadily without a reservation.`}
      />
    </SpaceBetween>
  );
}

export function SavingsPlans({ month, title }: PartProps) {
  const { t } = useLingui();
  const list = useApi("/m/portal/sp", { query: { month } });
  const state = useStateText();
  const payment = usePaymentText();
  const account = useAccountColumn<SavingsPlan>();
  const end = useEndColumn<SavingsPlan>();
  return (
    <SpaceBetween size="s">
      {list.data && <PriceNotes months={list.data.months} unpriced={list.data.unpriced} />}
      <BrowserTable<SavingsPlan>
        id="portal-savings-plans"
        title={title}
        embedded
        columns={[
          text("plan", t`Savings plan`, 160, (row) => row.savings_plan_id.split("/").at(-1) ?? ""),
          account,
          text("terms", t`Payment`, 140, payment),
          end,
          text("state", t`State`, 100, (row) => state(row.state)),
          money("fee", t`Fee of the month`, (row) => row.fee),
          money("covered", t`Covered usage`, (row) => row.covered_usage),
          figure("share", t`Used (%)`, (row) => row.used_percentage, 110),
        ]}
        rows={list.data?.rows}
        query={list}
        rowId={(row) => row.savings_plan_id}
        searchLabel={t`Account or plan`}
        empty={t`There are no savings plans.`}
      />
    </SpaceBetween>
  );
}

function useStateText(): (state: "active" | "expired") => string {
  const { t } = useLingui();
  return (state) => (state === "active" ? t`Active` : t`Expired`);
}

function usePaymentText(): (row: { payment_option: string; term_length: string }) => string {
  const options = usePaymentOptions();
  const terms = useTerms();
  return (row) =>
    [terms(row.term_length), options[row.payment_option] ?? row.payment_option]
      .filter(Boolean)
      .join(" · ");
}

function useAccountColumn<T extends { customer_id: string; customer_name: string }>(): Column<T> {
  const { t } = useLingui();
  return {
    id: "account",
    header: t`Account`,
    sort: "account",
    width: 145,
    cell: (row) => (
      <>
        {row.customer_name}
        <Box variant="small" color="text-body-secondary" display="block">
          {row.customer_id}
        </Box>
      </>
    ),
    csv: (row) => `${row.customer_name} ${row.customer_id}`,
  };
}

function useEndColumn<T extends { end: string }>(): Column<T> {
  const { t } = useLingui();
  const { language } = useLanguage();
  return {
    id: "end",
    header: t`Ends`,
    sort: "end",
    width: 130,
    cell: (row) => (row.end === "" ? "–" : formatDate(row.end.slice(0, 10), language)),
    csv: (row) => row.end.slice(0, 10),
  };
}

function text<T>(id: string, header: string, width: number, read: (row: T) => string): Column<T> {
  return { id, header, width, sort: id, cell: read, csv: read };
}

function figure<T>(
  id: string,
  header: string,
  read: (row: T) => Decimal | null,
  width = 140,
): Column<T> {
  return {
    id,
    header,
    width,
    sort: id,
    numeric: true,
    cell: (row) => {
      const value = read(row);
      return value === null ? "–" : formatExact(value);
    },
    csv: (row) => String(read(row) ?? ""),
  };
}

function money<T extends { currency: string | null }>(
  id: string,
  header: string,
  read: (row: T) => Decimal | null,
): Column<T> {
  return {
    id,
    header,
    width: 140,
    sort: id,
    numeric: true,
    cell: (row) => <Amount value={read(row)} currency={row.currency ?? ""} />,
    csv: (row) => String(read(row) ?? ""),
  };
}
