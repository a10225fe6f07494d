// JSON with exact numbers: amounts never become binary floats.

/** An exact number: a safe integer, or the digits as text. */
export type Decimal = number | string;

interface ExactJSON {
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
  ): unknown;
  rawJSON(text: string): unknown;
}
// Part of ECMAScript 2026 and of the browsers we support; TypeScript does not declare it yet.
const exactJSON = JSON as unknown as ExactJSON;

const INTEGER = /^-?\d+$/;
const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?$/;

/** Parses JSON; a number that is not a safe integer is returned as its digits. */
export function parseExact(text: string): unknown {
  return exactJSON.parse(text, (_key, value, context) => {
    if (typeof value !== "number") return value;
    const digits = context.source ?? String(value);
    return INTEGER.test(digits) && Number.isSafeInteger(value) ? value : digits;
  });
}

/** Marks the digits as a number of a request body. Throws if they are not a plain decimal number. */
export function exactNumber(digits: Decimal): Decimal {
  const text = String(digits).trim();
  if (!NUMBER.test(text)) throw new RangeError(`${text} is not a decimal number`);
  return exactJSON.rawJSON(text) as Decimal;
}

export function isDecimalNumber(text: string): boolean {
  return NUMBER.test(text.trim());
}
