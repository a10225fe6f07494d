// Chooses from when customers see a sent invoice in the portal; the time can be changed again.
import Alert from "@cloudscape-design/components/alert";
import FormField from "@cloudscape-design/components/form-field";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { useChange } from "../../../api/queries.ts";
import { ConfirmDialog } from "../../../components/confirm-dialog.tsx";
import { formatTime } from "../../../components/month.ts";
import { useNotifications } from "../../../components/notifications.tsx";
import {
  type PublicationChoice,
  PublicationTime,
  readPublishTime,
} from "../../../components/publication-time.tsx";
import { readClock } from "../../../components/zoned-time.ts";
import { useLanguage } from "../../../language/language.tsx";
import { useTimeZone } from "../../me.ts";
import type { InvoicePath } from "./invoice-page.tsx";
import type { InvoiceStatus } from "./invoice-state.tsx";

interface PublishInvoiceDialogProps {
  path: InvoicePath;
  status: InvoiceStatus;
  onEnd: () => void;
}

export function PublishInvoiceDialog({ path, status, onEnd }: PublishInvoiceDialogProps) {
  const { t } = useLingui();
  const { language } = useLanguage();
  const { notify } = useNotifications();
  const timeZone = useTimeZone();
  const [choice, setChoice] = useState(() => startWith(status, timeZone));
  const number = status.invoice_no;
  const publishTime = readPublishTime(choice, timeZone);
  const hides =
    isPublished(status) && typeof publishTime === "string" && new Date(publishTime) > new Date();
  const publish = useChange(
    (client) =>
      client.put("/m/core/invoices/{month}/{company_id}/{vendor}/publication", {
        path,
        body: { publish_time: publishTime ?? new Date().toISOString() },
      }),
    {
      onSuccess: () => {
        const content =
          typeof publishTime === "string"
            ? t`Customers see invoice ${number} from ${formatTime(publishTime, language, timeZone)}.`
            : t`Invoice ${number} is published.`;
        notify({ type: "success", content });
        onEnd();
      },
    },
  );
  return (
    <ConfirmDialog
      title={t`Publication of invoice ${number}`}
      action={t`Save`}
      busy={publish.isPending}
      error={publish.error}
      ready={publishTime !== undefined}
      onConfirm={() => publish.mutate(undefined)}
      onCancel={onEnd}
    >
      <SpaceBetween size="m">
        <FormField
          label={t`Publication in the portal`}
          description={t`Until then the portal shows neither the invoice nor its files, and mails with a link wait.`}
        >
          <PublicationTime
            choice={choice}
            nowLabel={t`At once`}
            timeZone={timeZone}
            onChange={setChoice}
          />
        </FormField>
        {hides && (
          <Alert type="warning">
            <Trans>
              The customer sees this invoice already. It disappears until the chosen time.
            </Trans>
          </Alert>
        )}
      </SpaceBetween>
    </ConfirmDialog>
  );
}

/** Whether customers see the sent invoice now. */
export function isPublished(status: InvoiceStatus): boolean {
  return status.publish_time === null || new Date(status.publish_time) <= new Date();
}

function startWith(status: InvoiceStatus, timeZone: string): PublicationChoice {
  if (status.publish_time === null || isPublished(status))
    return { later: true, date: "", time: "09:00" };
  return { later: true, ...readClock(new Date(status.publish_time), timeZone) };
}
