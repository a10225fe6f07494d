// Sends the roles and customers of a person, and keeps what this console does not show.
import type { ApiClient } from "../../../api/client.ts";
import type { components } from "../../../api/schema.ts";
import type { AccessChoice } from "./access-fields.tsx";

type Access = components["schemas"]["EffectiveAccess"];
const GROUPS = "billingGroup";

export function readChoice(access: Access): AccessChoice {
  const core = access.namespaces.find((each) => each.namespace === "core");
  return {
    roles: core?.roles ?? [],
    customers:
      access.billing_groups?.map((group) => ({
        company_id: group.company_id,
        name: group.billinggroup_name,
      })) ?? null,
  };
}

/** `access` is what the person has now; roles of the portal and other filters stay. */
export function saveAccess(
  client: ApiClient,
  userId: string,
  choice: AccessChoice,
  access?: Access,
) {
  const portalRoles = (access?.namespaces ?? [])
    .filter((each) => each.namespace !== "core")
    .flatMap(({ namespace, roles }) => roles.map((role) => ({ namespace, role })));
  const otherFilters = (access?.filters ?? []).filter(({ type }) => type !== GROUPS);
  const groups = choice.customers?.map((customer) => customer.company_id);
  return client.patch("/m/auth/rbac/{subuser}/userroles", {
    path: { subuser: userId },
    body: {
      roles: [...choice.roles.map((role) => ({ namespace: "core", role })), ...portalRoles],
      filters: [
        ...otherFilters,
        ...(groups === undefined ? [] : [{ namespace: "core", type: GROUPS, resource: groups }]),
      ],
    },
  });
}
