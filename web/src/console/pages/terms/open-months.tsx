// The open months that have terms of their own: whether a change reaches them too.
import Checkbox from "@cloudscape-design/components/checkbox";
import { Trans } from "@lingui/react/macro";
import { useState } from "react";
import { useApi } from "../../../api/queries.ts";
import type { components } from "../../../api/schema.ts";
import { formatMonth } from "../../../components/month.ts";
import { useLanguage } from "../../../language/language.tsx";
import { useMay } from "../../me.ts";

export type SavedMonth = components["schemas"]["SavedMonth"];

export interface OpenMonths {
  /** The open months with saved terms of the customer. */
  months: readonly SavedMonth[];
  /** Whether the terms in the form are to be used for them too. */
  use: boolean;
  setUse: (use: boolean) => void;
  allowed: boolean;
}

export function useOpenMonths(company: string, vendor: string): OpenMonths {
  const may = useMay();
  const [use, setUse] = useState(true);
  const allowed = may("ModifyInvoice");
  const saved = useApi(
    "/m/core/invoices/saved-months/{company_id}/{vendor}",
    { path: { company_id: company, vendor } },
    { enabled: may("ReadInvoice", "ModifyInvoice") },
  );
  return { months: saved.data ?? [], use: use && allowed, setUse, allowed };
}

export function useMonthNames(): (months: readonly { month: string }[]) => string {
  const { language } = useLanguage();
  return (months) =>
    new Intl.ListFormat(language, { type: "conjunction" }).format(
      months.map(({ month }) => formatMonth(month, language)),
    );
}

export function OpenMonthsChoice({ months, use, setUse, allowed }: OpenMonths) {
  const names = useMonthNames()(months);
  if (months.length === 0) return null;
  return (
    <Checkbox
      checked={use}
      disabled={!allowed}
      onChange={({ detail }) => setUse(detail.checked)}
      description={
        allowed ? (
          <Trans>
            The new terms apply to all months to come. These open months have terms saved for them,
            which they keep if you clear this. Their exchange rates and memos stay. Invoices that
            exist change when they are created again.
          </Trans>
        ) : (
          <Trans>
            These months keep the terms saved for them. Changing them needs the permission to create
            invoices.
          </Trans>
        )
      }
    >
      <Trans>Use these terms for the open months too: {names}</Trans>
    </Checkbox>
  );
}
