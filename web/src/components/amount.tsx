// Shows an amount: rounded for reading, exact on hover, negative in red.
import Box from "@cloudscape-design/components/box";
import type { Decimal } from "../api/exact-json.ts";
import { useLanguage } from "../language/language.tsx";
import { formatAmount, formatExact, isNegative, plusSign } from "./amount-format.ts";
import "./amount.css";

interface AmountProps {
  value: Decimal | null | undefined;
  currency: string;
  strong?: boolean;
  /** A difference is written with its sign. */
  signed?: boolean;
  /** Shows every digit instead, with at least so many after the point, and no currency. */
  exactDigits?: number;
}

export function Amount({
  value,
  currency,
  strong = false,
  signed = false,
  exactDigits,
}: AmountProps) {
  const { language } = useLanguage();
  if (value === null || value === undefined) return <span aria-hidden="true">–</span>;
  const text =
    exactDigits === undefined
      ? formatAmount(value, currency, language)
      : formatExact(value, null, exactDigits);
  const className = isNegative(value) ? "amount amount-negative" : "amount";
  const content = (
    <span className={className} title={formatExact(value, currency)}>
      {signed && plusSign(value)}
      {text.replace(/^-/, "−")}
    </span>
  );
  return strong ? (
    <Box tagOverride="span" fontWeight="bold">
      {content}
    </Box>
  ) : (
    content
  );
}
