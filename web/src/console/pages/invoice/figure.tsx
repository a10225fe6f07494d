// An amount under its name.
import Box from "@cloudscape-design/components/box";
import type { Decimal } from "../../../api/exact-json.ts";
import { Amount } from "../../../components/amount.tsx";

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
        <Amount value={value} currency={currency} signed={signed} />
      </Box>
    </div>
  );
}
