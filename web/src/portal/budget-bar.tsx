// A budget as a bar: what was used of it, and what the month is expected to cost.
import Box from "@cloudscape-design/components/box";
import ProgressBar from "@cloudscape-design/components/progress-bar";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import { Trans } from "@lingui/react/macro";
import type { components } from "../api/schema.ts";
import { Amount } from "../components/amount.tsx";
import { toChartValue } from "../components/amount-format.ts";

export type BudgetState = components["schemas"]["BudgetState"];

export function BudgetBar({ budget }: { budget: BudgetState }) {
  const { actual, amount, currency, forecast } = budget;
  const percent = Number(budget.percent);
  return (
    <ProgressBar
      label={budget.name}
      value={Math.min(percent, 100)}
      status={percent >= 100 ? "error" : "in-progress"}
      {...(percent >= 100 && {
        resultText: <Trans>Exceeded: {String(budget.percent)}%</Trans>,
      })}
      description={
        <Trans>
          <Amount value={actual} currency={currency} /> of{" "}
          <Amount value={amount} currency={currency} />
        </Trans>
      }
      additionalInfo={
        forecast !== null && (
          <>
            <Trans>
              Forecast of the month: <Amount value={forecast} currency={currency} />
            </Trans>
            {percent < 100 && toChartValue(forecast) > toChartValue(amount) && (
              <Box display="inline" margin={{ left: "s" }}>
                <StatusIndicator type="warning">
                  <Trans>The forecast exceeds the budget</Trans>
                </StatusIndicator>
              </Box>
            )}
          </>
        )
      }
    />
  );
}
