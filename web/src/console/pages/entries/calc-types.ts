// The kinds of one-off entries, in words.
import { useLingui } from "@lingui/react/macro";

export function useCalcTypes(): Record<string, string> {
  const { t } = useLingui();
  return {
    Fee: t`One-off charge`,
    Credit: t`Credit`,
    Refund: t`Refund`,
    Upfront: t`Upfront payment`,
    Correction: t`Correction of an invoice`,
  };
}
