// Reservations and savings plans of a month: bought, used, recommended.
import ContentLayout from "@cloudscape-design/components/content-layout";
import Header from "@cloudscape-design/components/header";
import SegmentedControl from "@cloudscape-design/components/segmented-control";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useLingui } from "@lingui/react/macro";
import { useListState } from "../../components/list-state.ts";
import { PageTitle } from "../../components/page-title.tsx";
import { Recommendations, Reservations, ReservationUses, SavingsPlans } from "../commitments.tsx";
import { useFlag, useNewestMonth } from "../me.ts";
import { MonthSelect } from "../month-select.tsx";

export default function CommitmentsPage() {
  const { t } = useLingui();
  const flag = useFlag();
  const control = useListState();
  const newest = useNewestMonth();
  const month = control.filter("month") || newest;
  const parts = [
    { id: "ri_purchased", text: t`Reserved instances`, part: Reservations },
    { id: "ri_utilization", text: t`Utilisation`, part: ReservationUses },
    { id: "ri_recommendation", text: t`Recommendations`, part: Recommendations },
    { id: "sp_purchased", text: t`Savings plans`, part: SavingsPlans },
  ].filter(({ id }) => flag(id));
  const chosen = parts.find(({ id }) => id === control.filter("show")) ?? parts[0];
  const title = t`Reservations and savings plans`;
  if (chosen === undefined) return null;
  return (
    <ContentLayout header={<Header variant="h1">{title}</Header>}>
      <PageTitle title={title} />
      <SpaceBetween size="l">
        <MonthSelect month={month} onChange={(value) => control.setFilter("month", value)} />
        <SegmentedControl
          label={t`What is shown`}
          selectedId={chosen.id}
          options={parts.map(({ id, text }) => ({ id, text }))}
          onChange={({ detail }) =>
            control.setFilters({ show: detail.selectedId, sort: "", search: "" })
          }
        />
        <chosen.part month={month} title={chosen.text} />
      </SpaceBetween>
    </ContentLayout>
  );
}
