// Recorded values as people read them: names for ids, percent for rates.
import { useLingui } from "@lingui/react/macro";
import { formatDate, formatMonth } from "../../../components/month.ts";
import { toPercent } from "../../../components/percent.ts";
import { formatVendor } from "../../../components/vendor.ts";
import { useLanguage } from "../../../language/language.tsx";
import { LANGUAGE_NAMES } from "../../../language/language-switch.tsx";
import { useApprovalKinds } from "../approvals/approval-texts.ts";
import { useCreditKinds } from "../invoice/credit-kinds.ts";
import type { AuditEntry } from "./audit-page.tsx";
import { SHOWN_MAX } from "./entry-values.ts";
import { useFieldText } from "./field-texts.ts";
import { useCustomerName } from "./names.ts";

const LANGUAGES = new Map<string, string>(Object.entries(LANGUAGE_NAMES));
const MONTH = /^\d{4}-(0[1-9]|1[0-2])$/;
const DAY = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/;
const RATES = new Set(["discount_rate", "substitution_rate", "support_rate", "tax_rate", "rate"]);

/** `customers` are ids of customers among the values that the entries do not name. */
export function useValueText(entries: AuditEntry[], customers: readonly string[] = []) {
  const { t } = useLingui();
  const { language } = useLanguage();
  const fieldText = useFieldText();
  const customerName = useCustomerName(entries, customers);
  const roundings: Record<string, string> = {
    half_up: t`Round half up`,
    down: t`Round down`,
    up: t`Round up`,
  };
  const kinds: Record<string, string> = {
    ...useApprovalKinds(),
    ...useCreditKinds(),
    correction: t`Difference to the recalculated invoice`,
  };
  const nameOf = (text: string) => (text.startsWith("cmp_") ? customerName(text) : text);
  const scalarText = (field: string, text: string) => {
    if (RATES.has(field)) return `${toPercent(text)}%`;
    if (field === "vendor" || field === "vendors") return formatVendor(text);
    if (field === "approval_required" || field === "kind") return kinds[text] ?? text;
    if (field === "rounding") return roundings[text] ?? text;
    if (field === "language") return LANGUAGES.get(text) ?? text;
    if (MONTH.test(text)) return formatMonth(text, language);
    if (DAY.test(text)) return formatDate(text, language);
    if (text === "true") return t`yes`;
    if (text === "false") return t`no`;
    return nameOf(text);
  };
  return {
    fieldName: (path: string[]) =>
      path
        .map((part) => (part.startsWith("cmp_") ? customerName(part) : fieldText(part)))
        .join(" › "),
    valueText: (path: string[], value: string | string[]) => {
      const field = path.at(-1) ?? "";
      if (typeof value === "string") return scalarText(field, value);
      const shown = value.slice(0, SHOWN_MAX).map((text) => scalarText(field, text));
      const others = value.length - shown.length;
      return (
        shown.join(language === "ja" ? "、" : ", ") + (others > 0 ? t` and ${others} more` : "")
      );
    },
  };
}
