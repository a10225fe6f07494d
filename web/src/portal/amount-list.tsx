// Names with their amounts, one below the other, the amounts aligned at their end.
import Box from "@cloudscape-design/components/box";
import type { Decimal } from "../api/exact-json.ts";
import { Amount } from "../components/amount.tsx";

import "./amount-list.css";

interface AmountListProps {
  rows: readonly { name: string; detail?: string; currency: string; amount: Decimal }[];
}

export function AmountList({ rows }: AmountListProps) {
  return (
    <ul className="amount-list">
      {rows.map(({ name, detail, currency, amount }) => (
        <li key={`${name} ${detail} ${currency}`}>
          <span>
            {name}
            {detail !== undefined && (
              <Box variant="small" display="block" color="text-body-secondary">
                {detail}
              </Box>
            )}
          </span>
          <Amount value={amount} currency={currency} strong />
        </li>
      ))}
    </ul>
  );
}
