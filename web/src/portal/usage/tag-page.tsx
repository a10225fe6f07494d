// Usage by the values of a tag and service.
import { useLingui } from "@lingui/react/macro";
import { useSearchParams } from "react-router";
import { useApi } from "../../api/queries.ts";
import { useFlag, useMe } from "../me.ts";
import { usePeriod } from "./period.tsx";
import { TagChoice } from "./tag-choice.tsx";
import { UsageReport } from "./usage-report.tsx";

export default function TagUsagePage() {
  const { t } = useLingui();
  const summed = useMe().data?.report_tag_keys ?? [];
  const period = usePeriod();
  const [params] = useSearchParams();
  const key = params.get("key") ?? summed[0] ?? "";
  const query = { key, ...period.query };
  const report = useApi("/m/portal/usage/tag", { query }, { enabled: key !== "" });
  // Days are stored only for the keys that the reseller sums up.
  const isDrawn =
    useFlag()("usage_tag_graph") &&
    key !== "" &&
    (period.months.length > 1 || summed.includes(key));
  const graph = useApi("/m/portal/usage/tag/graph", { query }, { enabled: isDrawn });
  const none = t`Without the tag`;
  return (
    <UsageReport
      title={t`Usage by tag`}
      by="tag"
      parameters={{ key }}
      nameHeader={key || t`Tag`}
      period={period}
      report={report}
      readRows={({ rows }) =>
        rows.map(({ tag_value, ...row }) => ({
          ...row,
          id: JSON.stringify(tag_value),
          name: tag_value ?? none,
        }))
      }
      graph={isDrawn ? graph : undefined}
      readSeries={({ series }) =>
        series.map(({ tag_values, ...each }) => ({
          ...each,
          title: tag_values === null ? t`Others` : (tag_values[0] ?? none),
        }))
      }
      choices={
        <TagChoice
          key={key}
          label={t`Tag`}
          value={key}
          onChange={(chosen) => period.change({ key: chosen })}
        />
      }
    />
  );
}
