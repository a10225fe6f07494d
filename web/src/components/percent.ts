// Shares such as 0.05 as people enter them, 5%; the digits are moved, never calculated.
import type { Decimal } from "../api/exact-json.ts";

const DIGITS = /^(\d+)(?:\.(\d+))?$/;

/** 0.055 becomes 5.5; what is not a plain share stays as it is. */
export function toPercent(share: Decimal): string {
  const match = DIGITS.exec(String(share));
  if (match === null) return String(share);
  const fraction = (match[2] ?? "").padEnd(2, "0");
  return trim(`${match[1]}${fraction.slice(0, 2)}`, fraction.slice(2));
}

/** 5.5 becomes 0.055. Returns undefined if the text is not a plain number. */
export function fromPercent(text: string): string | undefined {
  const match = DIGITS.exec(text.trim());
  if (match === null) return undefined;
  const integer = (match[1] ?? "").padStart(3, "0");
  return trim(integer.slice(0, -2), `${integer.slice(-2)}${match[2] ?? ""}`);
}

/** Removes zeros that say nothing: 007 and 50 become 7.5. */
function trim(integer: string, fraction: string): string {
  const whole = integer.replace(/^0+(?=\d)/, "");
  const rest = fraction.replace(/0+$/, "");
  return rest === "" ? whole : `${whole}.${rest}`;
}
