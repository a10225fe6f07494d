// Opens a page at the newest month that has invoices; for people who see only some customers, at the last month.

import { useApi } from "../api/queries.ts";
import { currentMonth, shiftMonth } from "../components/month.ts";
import { PageTitle } from "../components/page-title.tsx";
import { QueryState } from "../components/query-state.tsx";
import { Redirect } from "../components/redirect.tsx";
import { useMe } from "./me.ts";
import { FirstSteps } from "./pages/month/first-steps.tsx";

interface NewestMonthProps {
  title: string;
  path: (month: string, vendor: string) => string;
}

export function NewestMonth({ title, path }: NewestMonthProps) {
  const me = useMe().data;
  const restricted = (me?.billing_groups ?? null) !== null;
  const months = useApi("/m/core/months", { query: { steps: false } }, { enabled: !restricted });
  if (restricted)
    return <Redirect to={path(shiftMonth(currentMonth(), -1), me?.vendors[0] ?? "aws")} />;
  return (
    <>
      <PageTitle title={title} />
      <QueryState query={months}>
        {(listed) => {
          const chosen = listed.find((month) => month.has_invoices) ?? listed[0];
          if (chosen === undefined) return <FirstSteps />;
          return <Redirect to={path(chosen.month, chosen.vendor)} />;
        }}
      </QueryState>
    </>
  );
}
