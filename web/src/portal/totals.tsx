// The total of each currency and month of the rows that a table shows.
import Box from "@cloudscape-design/components/box";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans } from "@lingui/react/macro";
import type { Decimal } from "../api/exact-json.ts";
import { Amount } from "../components/amount.tsx";
import { addDecimals } from "../components/decimal-sum.ts";
import { formatMonth } from "../components/month.ts";
import { useLanguage } from "../language/language.tsx";

interface TotalsProps {
  rows: readonly { currency: string; amounts: Readonly<Record<string, Decimal>> }[];
  months: readonly string[];
}

export function Totals({ rows, months }: TotalsProps) {
  const { language } = useLanguage();
  const currencies = [...new Set(rows.map((row) => row.currency))];
  const total = (currency: string, month: string) =>
    addDecimals(
      rows.filter((row) => row.currency === currency).map((row) => row.amounts[month] ?? 0),
    );
  return (
    <SpaceBetween direction="horizontal" size="l">
      <Box fontWeight="bold">
        <Trans>Total</Trans>
      </Box>
      {currencies.flatMap((currency) =>
        months.map((month) => (
          <SpaceBetween key={`${currency} ${month}`} direction="horizontal" size="xs">
            <Box color="text-body-secondary">{formatMonth(month, language)}</Box>
            <Amount value={total(currency, month)} currency={currency} strong />
          </SpaceBetween>
        )),
      )}
    </SpaceBetween>
  );
}
