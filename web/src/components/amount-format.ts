// Writes exact amounts as people read them.
import { type Decimal, isDecimalNumber } from "../api/exact-json.ts";

/** ECMAScript formats digits given as text exactly; TypeScript declares numbers alone. */
type ExactFormat = { format(value: Decimal): string };

const formats = new Map<string, ExactFormat>();

function getFormat(language: string, options: Intl.NumberFormatOptions): ExactFormat {
  const key = `${language} ${JSON.stringify(options)}`;
  let format = formats.get(key);
  if (format === undefined) {
    format = new Intl.NumberFormat(language, options) as unknown as ExactFormat;
    formats.set(key, format);
  }
  return format;
}

/** The amount with its currency, rounded for reading; yen have no decimals. */
export function formatAmount(amount: Decimal, currency: string, language: string): string {
  const options = { style: "currency", currency, currencyDisplay: "narrowSymbol" } as const;
  try {
    // Japanese formats write a full-width sign, which breaks the alignment of digits.
    return getFormat(language, options).format(amount).replace("￥", "¥");
  } catch {
    return `${formatNumber(amount, language)} ${currency}`; // a code that is not a currency
  }
}

/** The code of a currency as people write it; the service writes small letters. */
export function formatCurrency(currency: string): string {
  return currency.toUpperCase();
}

/** How many digits the amount has after the point. */
export function countFractionDigits(amount: Decimal): number {
  return String(amount).split(".")[1]?.length ?? 0;
}

/** Every digit as stored, with the currency code; zeros fill up to `fractionDigits`. */
export function formatExact(amount: Decimal, currency?: string | null, fractionDigits = 0): string {
  const [integer = "", stored = ""] = String(amount).split(".");
  const grouped = integer.replace(/\B(?=(\d{3})+(?!\d))/g, ",");
  const fraction = stored.padEnd(fractionDigits, "0");
  const digits = fraction === "" ? grouped : `${grouped}.${fraction}`;
  return currency ? `${digits} ${formatCurrency(currency)}` : digits;
}

export function formatNumber(value: Decimal, language: string, maximumFractionDigits = 20): string {
  return getFormat(language, { maximumFractionDigits }).format(value);
}

/** A share such as 0.05 as 5%. */
export function formatPercent(share: Decimal, language: string, maximumFractionDigits = 1): string {
  return getFormat(language, { style: "percent", maximumFractionDigits }).format(share);
}

/** A share in a column of shares: 2.0%, −1.9%. */
export function formatRate(share: Decimal, language: string): string {
  const options = { style: "percent", minimumFractionDigits: 1, maximumFractionDigits: 1 } as const;
  return getFormat(language, options).format(share).replace(/^-/, "−");
}

/** The sign of a difference that is more, so that it reads as one; the others have theirs. */
export function plusSign(difference: Decimal): string {
  return isNegative(difference) || isZero(difference) ? "" : "+";
}

export function isNegative(amount: Decimal): boolean {
  return String(amount).startsWith("-");
}

export function isZero(amount: Decimal): boolean {
  return /^-?0+(\.0+)?$/.test(String(amount));
}

/** Whether a text is a number above 0. */
export function isPositiveNumber(text: string): boolean {
  return isDecimalNumber(text) && !isNegative(text.trim()) && !isZero(text.trim());
}

/** An approximate value for drawing charts; never for calculating. */
export function toChartValue(amount: Decimal): number {
  return Number(amount);
}
