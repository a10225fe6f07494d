// Returns moved instances to the account that bought them.
import { plural } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { useChange } from "../../../api/queries.ts";
import { ConfirmDialog } from "../../../components/confirm-dialog.tsx";
import { useNotifications } from "../../../components/notifications.tsx";
import { RouterLink } from "../../../components/router-link.tsx";
import { useAccount } from "../../account-name.tsx";
import { nameType } from "./reservation-columns.tsx";
import type { Reservation } from "./reservations-page.tsx";

interface ReturnDialogProps {
  reservation: Reservation;
  onEnd: () => void;
}

export function ReturnDialog({ reservation, onEnd }: ReturnDialogProps) {
  const { t } = useLingui();
  const { notify } = useNotifications();
  const { number, vendor } = reservation;
  const owner = reservation.customer_name || reservation.customer_id;
  const account = useAccount(vendor, reservation.dest_customer_id);
  const holder = account?.customer_name ?? reservation.dest_customer_id;
  const giveBack = useChange(
    (client) =>
      client.post("/m/core/ri/purchased/{ri_id}/remove", {
        path: { ri_id: reservation.id },
        query: { vendor },
      }),
    {
      onSuccess: () => {
        notify({
          type: "success",
          content: (
            <>
              {t`${plural(number, { one: "# instance was", other: "# instances were" })} returned to ${owner}.`}{" "}
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
      title={t`Return ${nameType(reservation)} to ${owner}`}
      action={t`Return`}
      busy={giveBack.isPending}
      error={giveBack.error}
      onConfirm={() => giveBack.mutate(undefined)}
      onCancel={onEnd}
    >
      <Trans>
        The fee of {number} instances leaves the invoice of {holder} and is charged to {owner}{" "}
        again, in every month that is not closed.
      </Trans>
    </ConfirmDialog>
  );
}
