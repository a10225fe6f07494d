// Mails with invoices: to whom, what became of them, and another attempt.
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import { Trans, useLingui } from "@lingui/react/macro";
import { type ReactNode, useState } from "react";
import { useChange } from "../../../api/queries.ts";
import { ConfirmDialog } from "../../../components/confirm-dialog.tsx";
import { formatTime } from "../../../components/month.ts";
import { useNotifications } from "../../../components/notifications.tsx";
import { RouterLink } from "../../../components/router-link.tsx";
import { SmallTable } from "../../../components/small-table.tsx";
import { useLanguage } from "../../../language/language.tsx";
import { useMay } from "../../me.ts";
import {
  type Delivery,
  listRecipients,
  STATE_INDICATORS,
  useDeliveryTexts,
} from "./delivery-texts.ts";

interface DeliveriesTableProps {
  deliveries: readonly Delivery[];
  header: ReactNode;
  /** Inside another container, without the name of the customer. */
  embedded?: boolean;
}

export function DeliveriesTable({ deliveries, header, embedded = false }: DeliveriesTableProps) {
  const { t } = useLingui();
  const { language } = useLanguage();
  const mayChange = useMay()("ModifyInvoice");
  const [retried, setRetried] = useState<Delivery>();
  const columns = [
    {
      id: "invoice",
      header: t`Invoice`,
      isRowHeader: true,
      cell: (each: Delivery) =>
        embedded ? (
          each.invoice_no
        ) : (
          <>
            <RouterLink to={`/invoices/${each.month}/${each.company_id}/${each.vendor}?tab=mails`}>
              {each.billinggroup_name}
            </RouterLink>
            <Box variant="small" display="block" color="text-body-secondary">
              {each.invoice_no}
            </Box>
          </>
        ),
    },
    {
      id: "recipients",
      header: t`Recipients`,
      cell: (each: Delivery) => listRecipients(each.recipients),
    },
    { id: "state", header: t`State`, cell: (each: Delivery) => <State delivery={each} /> },
    {
      id: "time",
      header: t`Time`,
      cell: (each: Delivery) => formatTime(each.update_time, language),
    },
    ...(mayChange
      ? [
          {
            id: "actions",
            header: t`Actions`,
            cell: (each: Delivery) =>
              (each.state === "failed" || each.state === "unknown") && (
                <Button
                  ariaLabel={t`Send invoice ${each.invoice_no} again`}
                  onClick={() => setRetried(each)}
                >
                  <Trans>Send again</Trans>
                </Button>
              ),
          },
        ]
      : []),
  ];
  return (
    <>
      <SmallTable<Delivery>
        embedded={embedded}
        label={t`Mails`}
        items={deliveries}
        trackBy="delivery_id"
        columns={columns}
        header={header}
        empty={<Trans>No invoice was mailed.</Trans>}
      />
      {retried && <RetryDialog delivery={retried} onEnd={() => setRetried(undefined)} />}
    </>
  );
}

function State({ delivery }: { delivery: Delivery }) {
  const { t } = useLingui();
  const { states } = useDeliveryTexts();
  return (
    <>
      <StatusIndicator type={STATE_INDICATORS[delivery.state]}>
        {states[delivery.state]}
      </StatusIndicator>
      {delivery.cause !== null && (
        <Box variant="small" display="block" color="text-body-secondary">
          {delivery.cause}
        </Box>
      )}
      {delivery.refused.map(({ email, cause }) => (
        <Box key={email} variant="small" display="block" color="text-status-error">
          {t`Not accepted for ${email}: ${cause}`}
        </Box>
      ))}
    </>
  );
}

function RetryDialog({ delivery, onEnd }: { delivery: Delivery; onEnd: () => void }) {
  const { t } = useLingui();
  const { notify } = useNotifications();
  const number = delivery.invoice_no;
  const retry = useChange(
    (client, idempotencyKey: string) =>
      client.post("/m/core/deliveries/{delivery_id}/retry", {
        path: { delivery_id: delivery.delivery_id },
        idempotencyKey,
      }),
    {
      onSuccess: () => {
        notify({ type: "success", content: t`Invoice ${number} is sent again.` });
        onEnd();
      },
    },
  );
  return (
    <ConfirmDialog
      title={t`Send invoice ${number} again`}
      action={t`Send again`}
      busy={retry.isPending}
      error={retry.error}
      onConfirm={() => retry.mutate(crypto.randomUUID())}
      onCancel={onEnd}
    >
      {delivery.state === "unknown" ? (
        <Trans>
          The mail server may have accepted this mail already. The customer then receives it twice,
          with the same Message-ID. It goes to the contacts as they are now.
        </Trans>
      ) : (
        <Trans>The mail goes to the contacts of the customer as they are now.</Trans>
      )}
    </ConfirmDialog>
  );
}
