// A budget as a bar: what was used of it, and what the month is expected to cost.
import ProgressBar from "@cloudscape-design/components/progress-bar";
import { Trans } from "@lingui/react/macro";
import type { components } from "../api/schema.ts";
import { Amount } from "../components/amount.tsx";

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
        resultText: <Trans>Exceeded: {String(budget.percent)} %</Trans>,
      })}
      description={
        <Trans>
          <Amount value={actual} currency={currency} /> of{" "}
          <Amount value={amount} currency={currency} />
        </Trans>
      }
      additionalInfo={
        forecast !== null && (
          <Trans>
            Forecast of the month: <Amount value={forecast} currency={currency} />
          </Trans>
        )
      }
    />
  );
}
