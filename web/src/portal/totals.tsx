// The total of each currency.
import Box from "@cloudscape-design/components/box";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans } from "@lingui/react/macro";
import type { components } from "../api/schema.ts";
import { Amount } from "../components/amount.tsx";

export function Totals({ totals }: { totals: readonly components["schemas"]["UsageTotal"][] }) {
  return (
    <SpaceBetween direction="horizontal" size="m">
      <Box fontWeight="bold">
        <Trans>Total of all months shown</Trans>
      </Box>
      {totals.map(({ currency, amount }) => (
        <Amount key={currency} value={amount} currency={currency} strong />
      ))}
    </SpaceBetween>
  );
}
