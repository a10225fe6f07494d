// What a credit note by hand can credit.
import { useLingui } from "@lingui/react/macro";

export type CreditKind = "full" | "lines" | "manual";

export function useCreditKinds(): Record<CreditKind, string> {
  const { t } = useLingui();
  return {
    full: t`Everything that is left of the invoice`,
    lines: t`Lines of the invoice`,
    manual: t`Amounts by hand, before tax`,
  };
}
