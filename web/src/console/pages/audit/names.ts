// The names of customers by their ids, for values that contain only ids.
import { useQueries } from "@tanstack/react-query";
import { useApi, useClient } from "../../../api/queries.ts";
import { useMay } from "../../me.ts";
import type { AuditEntry } from "./audit-page.tsx";

/** The name of a customer that these entries are about, or of one of `others`. */
export function useCustomerName(
  entries: AuditEntry[],
  others: readonly string[],
): (companyId: string) => string {
  const client = useClient();
  const allowed = useMay()("ReadBillingGroup", "ModifyBillingGroup");
  const found = useQueries({
    queries: others.map((companyId) => {
      const query = { search: companyId, limit: 1 };
      return {
        queryKey: ["/m/core/billinggroup", {}, query],
        queryFn: () => client.get("/m/core/billinggroup", { query }),
        staleTime: 300_000,
        enabled: allowed,
      };
    }),
  });
  const groups = found.flatMap(({ data }) => data ?? []);
  const names = new Map([
    ...groups.map((group) => [group.company_id, group.billinggroup_name] as const),
    ...entries.map((entry) => [entry.company_id, entry.billinggroup_name] as const),
  ]);
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
