// Assigns accounts to a customer in one request: all of them, or none.
import { plural } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { useChange } from "../../../api/queries.ts";
import { useNotifications } from "../../../components/notifications.tsx";
import { RouterLink } from "../../../components/router-link.tsx";
import type { GroupChoice } from "../../group-select.tsx";

export interface AccountToAssign {
  customer_id: string;
  /** The payer, for an account that is not registered yet. */
  account_id?: string;
  name?: string;
}

interface Assignment {
  group: GroupChoice;
  accounts: readonly AccountToAssign[];
}

/** `month` is the one that the person came from, if any. */
export function useAssign(vendor: string, month: string, onDone: () => void) {
  const { t } = useLingui();
  const { notify } = useNotifications();
  return useChange(
    (client, { group, accounts }: Assignment) =>
      client.post("/m/core/accts/assign", {
        body: {
          company_id: group.company_id,
          accounts: accounts.map((account) => ({ vendor, ...account })),
        },
      }),
    {
      onSuccess: (_result, { group, accounts }) => {
        const count = accounts.length;
        const name = group.billinggroup_name;
        notify({
          type: "success",
          content: (
            <>
              {t`${plural(count, { one: "# account was", other: "# accounts were" })} assigned to ${name}.`}{" "}
              <Trans>Create the invoices of open months again to include the costs.</Trans>{" "}
              <RouterLink to={`/customers/${group.company_id}`} color="inverted">
                <Trans>See the customer</Trans>
              </RouterLink>{" "}
              {month !== "" && (
                <RouterLink to={`/months/${month}/${vendor}`} color="inverted">
                  <Trans>Back to the month</Trans>
                </RouterLink>
              )}
            </>
          ),
        });
        onDone();
      },
    },
  );
}
