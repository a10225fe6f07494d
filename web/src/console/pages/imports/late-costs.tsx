// The customers of a closed month whose costs changed, and what was decided about each.
import Button from "@cloudscape-design/components/button";
import Header from "@cloudscape-design/components/header";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import Table from "@cloudscape-design/components/table";
import { Trans, useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { useApi } from "../../../api/queries.ts";
import type { components } from "../../../api/schema.ts";
import { Amount } from "../../../components/amount.tsx";
import { formatTime } from "../../../components/month.ts";
import { QueryState } from "../../../components/query-state.tsx";
import { RouterLink } from "../../../components/router-link.tsx";
import { useLanguage } from "../../../language/language.tsx";
import { useMay } from "../../me.ts";
import type { ImportRecord } from "./import-state.tsx";
import { LateCostDialog, useDecisionTexts } from "./late-cost-dialog.tsx";

export type DriftOfGroup = components["schemas"]["DriftOfGroup"];

export function LateCosts({ record }: { record: ImportRecord }) {
  const may = useMay();
  const drift = useApi(
    "/m/core/costs/imports/{import_id}/drift",
    { path: { import_id: record.import_id } },
    { enabled: may("ReadInvoice", "ModifyInvoice") },
  );
  if (!may("ReadInvoice", "ModifyInvoice")) return null;
  return (
    <QueryState query={drift}>
      {(groups) => <GroupTable record={record} groups={groups} />}
    </QueryState>
  );
}

function GroupTable({ record, groups }: { record: ImportRecord; groups: readonly DriftOfGroup[] }) {
  const { t } = useLingui();
  const mayDecide = useMay()("ModifyInvoice");
  const [chosen, setChosen] = useState<DriftOfGroup>();
  return (
    <>
      <Table
        header={
          <Header
            variant="h2"
            counter={`(${groups.length})`}
            description={t`Decide once for each customer. Discounts and fees are calculated at the terms and the rate of the invoice.`}
          >
            <Trans>Late costs by customer</Trans>
          </Header>
        }
        items={groups}
        trackBy="company_id"
        columnDefinitions={[
          {
            id: "customer",
            header: t`Customer`,
            isRowHeader: true,
            cell: (group) => group.billinggroup_name,
          },
          {
            id: "costs",
            header: t`Vendor costs`,
            cell: (group) => group.late_costs.map((sum) => <Costs key={sum.currency} sum={sum} />),
          },
          {
            id: "invoice",
            header: t`Invoice`,
            cell: (group) =>
              group.invoice_no === null ? (
                "–"
              ) : (
                <RouterLink to={`/invoices/${record.month}/${group.company_id}/${record.vendor}`}>
                  {group.invoice_no}
                </RouterLink>
              ),
          },
          {
            id: "decision",
            header: t`Decision`,
            cell: (group) =>
              group.decision === null ? (
                <Undecided mayDecide={mayDecide} onChoose={() => setChosen(group)} group={group} />
              ) : (
                <Decided decision={group.decision} />
              ),
          },
        ]}
      />
      {chosen !== undefined && (
        <LateCostDialog record={record} group={chosen} onEnd={() => setChosen(undefined)} />
      )}
    </>
  );
}

function Costs({ sum }: { sum: DriftOfGroup["late_costs"][number] }) {
  return (
    <div>
      <Amount value={sum.usage} currency={sum.currency} />
      {String(sum.one_off_lines) !== "0" && (
        <>
          {" "}
          <Trans>
            and one-off lines <Amount value={sum.one_off_lines} currency={sum.currency} />
          </Trans>
        </>
      )}
    </div>
  );
}

interface UndecidedProps {
  group: DriftOfGroup;
  mayDecide: boolean;
  onChoose: () => void;
}

function Undecided({ group, mayDecide, onChoose }: UndecidedProps) {
  const { t } = useLingui();
  if (mayDecide)
    return (
      <Button
        variant="inline-link"
        onClick={onChoose}
        ariaLabel={t`Decide: ${group.billinggroup_name}`}
      >
        <Trans>Decide</Trans>
      </Button>
    );
  return (
    <StatusIndicator type="pending">
      <Trans>Not decided</Trans>
    </StatusIndicator>
  );
}

function Decided({ decision }: { decision: NonNullable<DriftOfGroup["decision"]> }) {
  const { t } = useLingui();
  const { language } = useLanguage();
  const texts = useDecisionTexts();
  const time = formatTime(decision.decide_time, language);
  return (
    <div>
      <StatusIndicator type={decision.decision === "dismissed" ? "stopped" : "success"}>
        {texts[decision.decision].done}
      </StatusIndicator>{" "}
      {decision.pre_tax !== null && decision.currency !== null && (
        <Amount value={decision.pre_tax} currency={decision.currency} />
      )}
      <div>{t`${decision.decided_by}, ${time}: ${decision.reason}`}</div>
    </div>
  );
}
