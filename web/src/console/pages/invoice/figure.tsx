// An amount under its name, and an amount that tells more from less.
import Box from "@cloudscape-design/components/box";
import type { Decimal } from "../../../api/exact-json.ts";
import { Amount } from "../../../components/amount.tsx";
import { isNegative, isZero } from "../../../components/amount-format.ts";

interface FigureProps {
  label: string;
  value: Decimal | null;
  currency: string;
  strong?: boolean;
  /** A difference is written with its sign. */
  signed?: boolean;
}

export function Figure({ label, value, currency, strong = false, signed = false }: FigureProps) {
  return (
    <div>
      <Box variant="awsui-key-label">{label}</Box>
      <Box fontSize="heading-m" fontWeight={strong ? "bold" : "normal"}>
        {signed && value !== null ? (
          <Change value={value} currency={currency} />
        ) : (
          <Amount value={value} currency={currency} />
        )}
      </Box>
    </div>
  );
}

export function Change({ value, currency }: { value: Decimal; currency: string }) {
  return (
    <span className="amount">
      {!isNegative(value) && !isZero(value) && "+"}
      <Amount value={value} currency={currency} />
    </span>
  );
}
