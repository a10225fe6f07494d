// Adds exact decimal numbers.
import type { Decimal } from "../api/exact-json.ts";

/** The exact sum, as digits; no number becomes a binary float. */
export function addDecimals(values: readonly Decimal[]): string {
  const texts = values.map(String);
  const scale = Math.max(0, ...texts.map((text) => text.split(".")[1]?.length ?? 0));
  const sum = texts.reduce((total, text) => total + toUnits(text, scale), 0n);
  const digits = (sum < 0n ? -sum : sum).toString().padStart(scale + 1, "0");
  const integer = digits.slice(0, digits.length - scale);
  const fraction = digits.slice(digits.length - scale);
  return `${sum < 0n ? "-" : ""}${integer}${scale === 0 ? "" : `.${fraction}`}`;
}

/** The number in units of its last decimal. */
function toUnits(text: string, scale: number): bigint {
  const [integer = "", fraction = ""] = text.split(".");
  return BigInt(integer + fraction.padEnd(scale, "0"));
}
