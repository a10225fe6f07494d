// Sends the terms of an invoice back to the service with their exact numbers.
import { exactNumber } from "./exact-json.ts";
import type { components } from "./schema.ts";

type InvoiceSetting = components["schemas"]["InvoiceSetting"];

const NUMBERS = [
  "discount_rate",
  "substitution_fix",
  "substitution_rate",
  "support_fix",
  "support_rate",
  "tax_rate",
] as const;

export function buildTermsBody(terms: InvoiceSetting): InvoiceSetting {
  const body = { ...terms };
  for (const name of NUMBERS) body[name] = exactNumber(terms[name]);
  return body;
}
