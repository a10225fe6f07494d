// What is wrong in a CSV file, by line and column.
import Alert from "@cloudscape-design/components/alert";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Table from "@cloudscape-design/components/table";
import { Trans, useLingui } from "@lingui/react/macro";
import { useRuleText } from "./rule-text.ts";

interface LineErrorsProps {
  violations: { field: string; rule: string }[];
}

export function LineErrors({ violations }: LineErrorsProps) {
  const { t } = useLingui();
  const ruleText = useRuleText();
  const rows = violations.map(({ field, rule }, index) => {
    const place = /^line (\d+), (.*)$/.exec(field);
    return {
      id: String(index),
      line: place?.[1] ?? "–",
      column: place?.[2] ?? "–",
      rule: ruleText(rule),
    };
  });
  return (
    <SpaceBetween size="xs">
      <Alert type="error" header={t`Nothing was added.`}>
        <Trans>Correct the lines below in the file and choose it again.</Trans>
      </Alert>
      <Table
        variant="embedded"
        contentDensity="compact"
        items={rows}
        trackBy="id"
        wrapLines
        ariaLabels={{ tableLabel: t`Errors of the file` }}
        columnDefinitions={[
          { id: "line", header: t`Line`, cell: (row) => row.line, width: 90, isRowHeader: true },
          { id: "column", header: t`Column`, cell: (row) => row.column, width: 200 },
          { id: "rule", header: t`What is wrong`, cell: (row) => row.rule },
        ]}
      />
    </SpaceBetween>
  );
}
