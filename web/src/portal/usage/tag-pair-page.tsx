// Usage by the values of two tags and service.
import { useLingui } from "@lingui/react/macro";
import { useSearchParams } from "react-router";
import { useApi } from "../../api/queries.ts";
import { useFlag, useMe } from "../me.ts";
import { usePeriod } from "./period.tsx";
import { TagChoice } from "./tag-choice.tsx";
import { UsageReport } from "./usage-report.tsx";

export default function TagPairPage() {
  const { t } = useLingui();
  const summed = useMe().data?.report_tag_keys ?? [];
  const period = usePeriod();
  const [params] = useSearchParams();
  const first = params.get("key") ?? summed[0] ?? "";
  const second = params.get("key2") ?? summed[1] ?? "";
  const keys = [first, second].map((key) => key.replaceAll(",", "\\,")).join(",");
  const isChosen = first !== "" && second !== "";
  const query = { keys, ...period.query };
  const report = useApi("/m/portal/usage/crosstag", { query }, { enabled: isChosen });
  const isDrawn = useFlag()("usage_crosstag_graph") && isChosen;
  const graph = useApi("/m/portal/usage/crosstag/graph", { query }, { enabled: isDrawn });
  const none = t`Without the tag`;
  const join = (values: readonly (string | null)[]) =>
    values.map((value) => value ?? none).join(" / ");
  return (
    <UsageReport
      title={t`Usage by two tags`}
      by="crosstag"
      parameters={{ keys }}
      nameHeader={isChosen ? `${first} / ${second}` : t`Tags`}
      period={period}
      report={report}
      readRows={({ rows }) =>
        rows.map(({ tag_value, tag_value_2, ...row }) => ({
          ...row,
          id: JSON.stringify([tag_value, tag_value_2]),
          name: join([tag_value, tag_value_2]),
        }))
      }
      graph={isDrawn ? graph : undefined}
      readSeries={({ series }) =>
        series.map(({ tag_values, ...each }) => ({
          ...each,
          title: tag_values === null ? t`Others` : join(tag_values),
        }))
      }
      choices={[
        <TagChoice
          key={`1 ${first}`}
          label={t`First tag`}
          value={first}
          onChange={(chosen) => period.change({ key: chosen })}
        />,
        <TagChoice
          key={`2 ${second}`}
          label={t`Second tag`}
          value={second}
          onChange={(chosen) => period.change({ key2: chosen })}
        />,
      ]}
      missing={isChosen ? undefined : t`Choose two tags to see what their values cost together.`}
    />
  );
}
