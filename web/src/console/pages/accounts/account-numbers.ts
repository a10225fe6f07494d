// The numbers that vendors give to accounts, checked before they are sent.

export type NumberField = "customer_id" | "account_id";
export type NumberRule = "digits12" | "digits7" | "subscription" | "other";

const PATTERNS: Record<NumberRule, RegExp> = {
  digits12: /^\d{12}$/,
  digits7: /^\d{7}$/,
  subscription: /^[^/]{16,36}$/,
  other: /^(?=.*[0-9A-Za-z])[ -.0-{}~]{1,64}$/,
};

function getRule(vendor: string, field: NumberField): NumberRule {
  if (vendor === "aws") return "digits12";
  if (vendor === "azure") return field === "customer_id" ? "subscription" : "digits7";
  return "other";
}

/** The rule that the number breaks, if any. */
export function numberProblem(
  vendor: string,
  field: NumberField,
  text: string,
): NumberRule | undefined {
  const rule = getRule(vendor, field);
  return PATTERNS[rule].test(text) ? undefined : rule;
}
