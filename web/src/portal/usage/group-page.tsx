// Usage by account group and service.
import { useLingui } from "@lingui/react/macro";
import { useApi } from "../../api/queries.ts";
import { useFlag } from "../me.ts";
import { usePeriod } from "./period.tsx";
import { UsageReport } from "./usage-report.tsx";

export default function GroupUsagePage() {
  const { t } = useLingui();
  const period = usePeriod();
  const report = useApi("/m/portal/usage/group", { query: period.query });
  const isDrawn = useFlag()("usage_group_graph");
  const graph = useApi(
    "/m/portal/usage/group/graph",
    { query: period.query },
    { enabled: isDrawn },
  );
  const none = t`In no group`;
  return (
    <UsageReport
      title={t`Usage by account group`}
      by="group"
      nameHeader={t`Account group`}
      period={period}
      report={report}
      readRows={({ rows }) =>
        rows.map(({ group_id, group_name, ...row }) => ({
          ...row,
          id: group_id ?? "",
          name: group_name ?? none,
        }))
      }
      graph={isDrawn ? graph : undefined}
      readSeries={({ series }) =>
        series.map(({ id, name, ...each }) => ({
          ...each,
          title: id === null ? t`Others` : id === "" ? none : name,
        }))
      }
      nameCell={(row) => row.name}
    />
  );
}
