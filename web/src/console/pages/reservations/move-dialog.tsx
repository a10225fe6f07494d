// Moves instances of a reservation, with their part of the fee, to another account.
import Box from "@cloudscape-design/components/box";
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { plural } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { useChange } from "../../../api/queries.ts";
import { ConfirmDialog } from "../../../components/confirm-dialog.tsx";
import { useNotifications } from "../../../components/notifications.tsx";
import { RouterLink } from "../../../components/router-link.tsx";
import { type Account, AccountSelect } from "../../account-select.tsx";
import { nameType } from "./reservation-columns.tsx";
import type { Reservation } from "./reservations-page.tsx";

interface MoveDialogProps {
  reservation: Reservation;
  onEnd: () => void;
}

export function MoveDialog({ reservation, onEnd }: MoveDialogProps) {
  const { t } = useLingui();
  const { notify } = useNotifications();
  const [account, setAccount] = useState<Account>();
  const [text, setText] = useState(String(reservation.number));
  const count = /^\d+$/.test(text) ? Number(text) : 0;
  const valid = count >= 1 && count <= reservation.number;
  const most = reservation.number;
  const owner = reservation.customer_name || reservation.customer_id;
  const type = nameType(reservation);
  const move = useChange(
    (client) =>
      client.post("/m/core/ri/purchased/{ri_id}", {
        path: { ri_id: reservation.id },
        body: { customer_id: account?.customer_id ?? "", number: count, vendor: "aws" },
      }),
    {
      onSuccess: () => {
        const name = account?.customer_name ?? "";
        notify({
          type: "success",
          content: (
            <>
              {t`${plural(count, { one: "# instance was", other: "# instances were" })} moved to ${name}.`}{" "}
              <RouterLink to="/months" color="inverted">
                <Trans>See the month</Trans>
              </RouterLink>
            </>
          ),
        });
        onEnd();
      },
    },
  );
  return (
    <ConfirmDialog
      title={t`Move ${type} of ${owner}`}
      action={t`Move`}
      busy={move.isPending}
      error={move.error}
      ready={valid && account !== undefined}
      onConfirm={() => move.mutate(undefined)}
      onCancel={onEnd}
    >
      <SpaceBetween size="m">
        <Box>
          <Trans>
            The fee of the moved instances leaves the invoice of {owner} and appears on that of the
            new holder, in every month that is not closed. Usage is not priced again. A move can be
            returned.
          </Trans>
        </Box>
        <FormField label={t`New holder`}>
          <AccountSelect
            vendor={reservation.vendor}
            value={account}
            onChange={setAccount}
            except={[reservation.customer_id]}
          />
        </FormField>
        <FormField
          label={t`Number of instances`}
          constraintText={t`From 1 to ${most}, which remain with the buyer.`}
          errorText={valid ? "" : t`Enter a number from 1 to ${most}.`}
        >
          <Input
            value={text}
            inputMode="numeric"
            onChange={({ detail }) => setText(detail.value)}
          />
        </FormField>
      </SpaceBetween>
    </ConfirmDialog>
  );
}
