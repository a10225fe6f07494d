// Deletes an account from its customer.
import Box from "@cloudscape-design/components/box";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import { useChange } from "../../../api/queries.ts";
import { ConfirmDialog } from "../../../components/confirm-dialog.tsx";
import { useNotifications } from "../../../components/notifications.tsx";
import type { Account } from "../../account-select.tsx";

interface DeleteAccountDialogProps {
  account: Account;
  onEnd: (done: boolean) => void;
}

export function DeleteAccountDialog({ account, onEnd }: DeleteAccountDialogProps) {
  const { t } = useLingui();
  const { notify } = useNotifications();
  const { customer_id, customer_name, billinggroup_name } = account;
  const remove = useChange(
    (client) =>
      client.delete("/m/core/accts/{vendor}/{both_ids}", {
        path: { vendor: account.vendor, both_ids: `${customer_id}|${account.account_id}` },
        ifMatch: account.etag,
      }),
    {
      onSuccess: () => {
        notify({ type: "success", content: t`The account ${customer_name} was deleted.` });
        onEnd(true);
      },
    },
  );
  return (
    <ConfirmDialog
      title={t`Delete the account ${customer_name}`}
      word={customer_id}
      action={t`Delete`}
      busy={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate(undefined)}
      onCancel={() => onEnd(false)}
    >
      <SpaceBetween size="s">
        <Box>
          <Trans>
            Its costs are no longer billed to {billinggroup_name}. Invoices that exist still show
            it. If its costs arrive again, it belongs to nobody.
          </Trans>
        </Box>
      </SpaceBetween>
    </ConfirmDialog>
  );
}
