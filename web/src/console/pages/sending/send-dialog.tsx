// Asks before invoices are mailed: how many, how, and that it cannot be undone.
import Box from "@cloudscape-design/components/box";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { plural } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { useChange } from "../../../api/queries.ts";
import { ConfirmDialog } from "../../../components/confirm-dialog.tsx";
import { formatTime } from "../../../components/month.ts";
import { useNotifications } from "../../../components/notifications.tsx";
import { readPublishTime } from "../../../components/publication-time.tsx";
import { useLanguage } from "../../../language/language.tsx";
import { useTimeZone } from "../../me.ts";
import type { PreviewedMail } from "./delivery-texts.ts";
import type { SendingChoice } from "./sending-options.tsx";

interface SendDialogProps {
  month: string;
  vendor: string;
  choice: SendingChoice;
  mails: readonly PreviewedMail[];
  /** How many other invoices of the month stay unsent. */
  unsent: number;
  onEnd: () => void;
}

export function SendDialog({ month, vendor, choice, mails, unsent, onEnd }: SendDialogProps) {
  const { t } = useLingui();
  const { language } = useLanguage();
  const { notify } = useNotifications();
  const timeZone = useTimeZone();
  const publishTime = readPublishTime(choice, timeZone) ?? null;
  const send = useChange(
    (client, idempotencyKey: string) =>
      client.post("/m/core/invoices/{month}/deliveries", {
        path: { month },
        body: {
          vendor,
          method: choice.method,
          company_ids: mails.map(({ company_id }) => company_id),
          revisions: Object.fromEntries(
            mails.map(({ company_id, revision }) => [company_id, revision]),
          ),
          publish_time: publishTime,
        },
        idempotencyKey,
      }),
    {
      onSuccess: ({ sent }) => {
        const count = sent.length;
        notify({
          type: "success",
          content: t`${plural(count, { one: "# invoice is", other: "# invoices are" })} being sent.`,
        });
        onEnd();
      },
    },
  );
  return (
    <ConfirmDialog
      title={t`Send ${plural(mails.length, { one: "# invoice", other: "# invoices" })}`}
      word={month}
      action={t`Send`}
      busy={send.isPending}
      error={send.error}
      onConfirm={() => send.mutate(crypto.randomUUID())}
      onCancel={onEnd}
    >
      <SpaceBetween size="s">
        <Box>
          {t`${plural(mails.length, { one: "# customer receives", other: "# customers receive" })} a mail. The invoices cannot be created again afterwards: credit notes correct them. This cannot be undone.`}
        </Box>
        <Box>
          {t`${plural(unsent, {
            0: "After that, no invoice of the month is unsent.",
            one: "# other invoice of the month stays unsent.",
            other: "# other invoices of the month stay unsent.",
          })}`}
        </Box>
        {publishTime !== null && (
          <Box>
            <Trans>
              Customers see the invoices in the portal from{" "}
              {formatTime(publishTime, language, timeZone)}.
            </Trans>
          </Box>
        )}
      </SpaceBetween>
    </ConfirmDialog>
  );
}
