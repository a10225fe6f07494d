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
}

export function Amount({ value, currency, strong = false, signed = false }: AmountProps) {
  const { language } = useLanguage();
  if (value === null || value === undefined) return <span aria-hidden="true">–</span>;
  const text = formatAmount(value, currency, language).replace(/^-/, "−");
  const className = isNegative(value) ? "amount amount-negative" : "amount";
  const content = (
    <span className={className} title={formatExact(value, currency)}>
      {signed && plusSign(value)}
      {text}
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
