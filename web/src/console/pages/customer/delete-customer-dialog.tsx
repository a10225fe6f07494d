// Deletes a customer that has no accounts, portal logins or invoices.
import { Trans, useLingui } from "@lingui/react/macro";
import { useNavigate } from "react-router";
import { useChange } from "../../../api/queries.ts";
import { ConfirmDialog } from "../../../components/confirm-dialog.tsx";
import { useNotifications } from "../../../components/notifications.tsx";
import type { BillingGroup } from "./customer-page.tsx";

export function DeleteCustomerDialog({ group, onEnd }: { group: BillingGroup; onEnd: () => void }) {
  const { t } = useLingui();
  const navigate = useNavigate();
  const { notify } = useNotifications();
  const remove = useChange(
    async (client) => {
      await client.delete("/m/core/billinggroup/{company_id}", {
        path: { company_id: group.company_id },
      });
      // The page of a customer that no longer exists must not be read again.
      navigate("/customers");
    },
    { onSuccess: () => notify({ type: "success", content: t`${group.name} was deleted.` }) },
  );
  return (
    <ConfirmDialog
      title={t`Delete ${group.name}`}
      word={group.billinggroup_id}
      action={t`Delete`}
      busy={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate(undefined)}
      onCancel={onEnd}
    >
      <Trans>
        The customer and its terms are deleted; this cannot be undone. A customer that has accounts,
        portal logins or invoices is kept.
      </Trans>
    </ConfirmDialog>
  );
}
