// The names of customers and people by their ids, for lists that contain only ids.
import { useMemo } from "react";
import { useApi } from "../../../api/queries.ts";
import { useMay, useMe } from "../../me.ts";

const NAMES_MAX = 5000;

/** The name of a customer, or the id while it is not known. */
export function useCustomerName(): (companyId: string) => string {
  const allowed = useMay()("ReadBillingGroup", "ModifyBillingGroup");
  const groups = useApi(
    "/m/core/billinggroup",
    { query: { limit: NAMES_MAX } },
    { staleTime: 300_000, enabled: allowed },
  ).data;
  const names = useMemo(
    () => new Map((groups ?? []).map((group) => [group.company_id, group.billinggroup_name])),
    [groups],
  );
  return (companyId) => names.get(companyId) ?? companyId;
}

/** The name of a person, or the id if they are not known or no longer there. */
export function usePersonName(): (userId: string) => string {
  const me = useMe().data;
  const allowed = useMay()("ReadUsers", "ModifyUsers");
  const people = useApi("/m/u/users", {}, { staleTime: 300_000, enabled: allowed }).data ?? [];
  return (userId) =>
    me?.user_id === userId
      ? me.username
      : (people.find((person) => person.user_id === userId)?.username ?? userId);
}
