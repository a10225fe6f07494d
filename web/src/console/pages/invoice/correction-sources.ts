// With what a sent invoice can be corrected, and how it would look then.
import { useQueries, useQuery } from "@tanstack/react-query";
import type { ApiError } from "../../../api/client.ts";
import type { Decimal } from "../../../api/exact-json.ts";
import { buildTermsBody } from "../../../api/invoice-terms.ts";
import { useApi, useClient } from "../../../api/queries.ts";
import type { components } from "../../../api/schema.ts";
import { isZero } from "../../../components/amount-format.ts";
import { useMay } from "../../me.ts";
import { readTerms, writeTerms } from "../terms/terms-model.ts";
import { type CorrectedTaxRate, listTaxRates, type Sheet, subtract } from "./corrected-amounts.ts";
import type { InvoiceDocument, InvoicePath } from "./invoice-page.tsx";

type Terms = components["schemas"]["InvoiceSettingUpdate"];
type ChangedTerm = components["schemas"]["ChangedTerm"];

const IMPORTS_MAX = 10;

/** The settings and costs of the open month, the terms of the customer, or late costs of an import. */
export type CorrectionSource =
  | { id: "month" }
  | { id: "terms"; terms: Terms }
  | { id: string; importId: string; time: string; hasOneOffLines: boolean };

/** The invoice as it is and as it would be. */
export interface Correction {
  invoiced: Decimal;
  credited: Decimal;
  corrected: Decimal;
  difference: Decimal;
  /** Before tax, what entries of other months charge for it already. */
  netted: Decimal;
  /** Before tax; what an entry of a later month would charge. */
  entryAmount: Decimal;
  canCredit: boolean;
  changedTerms: readonly ChangedTerm[];
  rates: readonly CorrectedTaxRate[];
  sheet: Sheet;
}

/** What the person may use, the most likely cause first; undefined while it is read. */
export function useCorrectionSources(path: InvoicePath): CorrectionSource[] | undefined {
  const may = useMay();
  const imports = useLateImports(path);
  const group = useApi(
    "/m/core/billinggroup/{company_id}/resource",
    { path: { company_id: path.company_id } },
    { enabled: may("ReadBillingGroup", "ModifyBillingGroup") },
  );
  const open = useApi("/m/core/invoices/saved-months/{company_id}/{vendor}", {
    path: { company_id: path.company_id, vendor: path.vendor },
  });
  if (imports === undefined || group.isLoading || open.isLoading) return undefined;
  const setting = group.data?.invoices[path.vendor];
  const target = group.data?.support_fee_targets[path.vendor];
  const terms = setting && {
    vendor: path.vendor,
    invoices: buildTermsBody(setting),
    ...(target && { support_fee_target: target }),
  };
  const isOpen = open.data?.some(({ month }) => month === path.month) ?? false;
  return [
    ...imports,
    ...(isOpen && may("ModifyBillingGroup") ? [{ id: "month" as const }] : []),
    ...(terms ? [{ id: "terms" as const, terms }] : []),
  ];
}

/** The imports with late costs of this customer about which nobody has decided yet. */
function useLateImports({ month, vendor, company_id }: InvoicePath) {
  const client = useClient();
  const mayRead = useMay()("ReadCost", "ModifyCost");
  const imports = useApi(
    "/m/core/costs/imports",
    { query: { month, vendor, state: "drift", limit: IMPORTS_MAX } },
    { enabled: mayRead, retry: false },
  );
  const drifts = useQueries({
    queries: (imports.data ?? []).map(({ import_id }) => ({
      queryKey: ["/m/core/costs/imports/{import_id}/drift", { import_id }],
      queryFn: () => client.get("/m/core/costs/imports/{import_id}/drift", { path: { import_id } }),
      retry: false,
    })),
  });
  if (imports.isLoading || drifts.some((each) => each.isLoading)) return undefined;
  return (imports.data ?? []).flatMap(({ import_id, create_time }, index) => {
    const own = drifts[index]?.data?.find((each) => each.company_id === company_id);
    if (own === undefined || own.decision !== null) return [];
    const hasOneOffLines = own.late_costs.some((sum) => !isZero(sum.one_off_lines));
    return [{ id: import_id, importId: import_id, time: create_time, hasOneOffLines }];
  });
}

/** Calculates the invoice with the source; nothing is stored. */
export function useCorrection(
  path: InvoicePath,
  invoice: InvoiceDocument,
  source: CorrectionSource,
  oneOffLines: boolean,
) {
  const client = useClient();
  return useQuery<Correction, ApiError>({
    queryKey: ["correction", path, invoice.revision, source.id, oneOffLines],
    queryFn: async ({ signal }) => {
      if (!("terms" in source) && !("importId" in source)) {
        const { current } = await client.post("/m/core/billinggroup/{company_id}/preview/{month}", {
          path: { company_id: path.company_id, month: path.month },
          // The month under its own terms is part of every preview, whatever terms it is for.
          body: { vendor: path.vendor, ...writeTerms(readTerms(undefined, undefined, "stated")) },
          signal,
        });
        return compareSheets(invoice.sheet, current);
      }
      const body =
        "terms" in source
          ? { terms: source.terms }
          : { import_id: source.importId, one_off_lines: oneOffLines };
      const found = await client.post(
        "/m/core/invoices/{month}/{company_id}/{vendor}/correction-preview",
        { path, body, signal },
      );
      return readPreview(found);
    },
    retry: false,
  });
}

function readPreview(found: components["schemas"]["CorrectionPreview"]): Correction {
  const beforeTax = found.rates.reduce<Decimal>(
    (sum, rate) => subtract(sum, subtract(0, rate.difference)),
    0,
  );
  return {
    invoiced: found.invoiced_total,
    credited: found.credited_total,
    corrected: found.corrected_total,
    difference: found.difference,
    netted: found.netted,
    entryAmount: subtract(beforeTax, found.netted),
    canCredit: found.can_credit,
    changedTerms: found.changed_terms,
    rates: found.rates,
    sheet: found.corrected,
  };
}

function compareSheets(invoice: Sheet, corrected: Sheet): Correction {
  return {
    invoiced: invoice.total,
    credited: 0,
    corrected: corrected.total,
    difference: subtract(corrected.total, invoice.total),
    netted: 0,
    entryAmount: subtract(corrected.pre_tax, invoice.pre_tax),
    canCredit: false,
    changedTerms: [],
    rates: listTaxRates(invoice, corrected),
    sheet: corrected,
  };
}
