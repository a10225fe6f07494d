// The total of each currency.
import Box from "@cloudscape-design/components/box";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans } from "@lingui/react/macro";
import type { components } from "../api/schema.ts";
import { Amount } from "../components/amount.tsx";

interface TotalsProps {
  totals: readonly components["schemas"]["UsageTotal"][];
  /** How many months the rows show. */
  months: number;
}

export function Totals({ totals, months }: TotalsProps) {
  return (
    <SpaceBetween direction="horizontal" size="m">
      <Box fontWeight="bold">
        {months === 1 ? <Trans>Total</Trans> : <Trans>Total of all months shown</Trans>}
      </Box>
      {totals.map(({ currency, amount }) => (
        <Amount key={currency} value={amount} currency={currency} strong />
      ))}
    </SpaceBetween>
  );
}
