// The names of customers by their ids, for values that contain only ids.
import { useMemo } from "react";
import { useApi } from "../../../api/queries.ts";
import { useMay } from "../../me.ts";
import type { AuditEntry } from "./audit-page.tsx";

/** The name of a customer that these entries are about, or the id of another one. */
export function useCustomerName(entries: AuditEntry[]): (companyId: string) => string {
  const names = useMemo(
    () => new Map(entries.map((entry) => [entry.company_id, entry.billinggroup_name])),
    [entries],
  );
  return (companyId) => names.get(companyId) ?? companyId;
}

/** The name of one customer, or the id while it is not known. */
export function useNameOfCustomer(companyId: string): string {
  const allowed = useMay()("ReadBillingGroup", "ModifyBillingGroup");
  const groups = useApi(
    "/m/core/billinggroup",
    { query: { search: companyId, limit: 5 } },
    { staleTime: 300_000, enabled: allowed && companyId !== "" },
  ).data;
  const found = groups?.find((group) => group.company_id === companyId);
  return found?.billinggroup_name ?? companyId;
}
