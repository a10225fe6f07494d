// Opens a closed month again, for a recorded reason.
import Box from "@cloudscape-design/components/box";
import FormField from "@cloudscape-design/components/form-field";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Textarea from "@cloudscape-design/components/textarea";
import { Trans, useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { useChange } from "../../../api/queries.ts";
import { ConfirmDialog } from "../../../components/confirm-dialog.tsx";
import { useNotifications } from "../../../components/notifications.tsx";
import { formatVendorMonth } from "../../../components/vendor.ts";
import { useLanguage } from "../../../language/language.tsx";

interface ReopenMonthDialogProps {
  month: string;
  vendor: string;
  onEnd: () => void;
}

export function ReopenMonthDialog({ month, vendor, onEnd }: ReopenMonthDialogProps) {
  const { t } = useLingui();
  const { language } = useLanguage();
  const { notify } = useNotifications();
  const [reason, setReason] = useState("");
  const name = formatVendorMonth(month, vendor, language);
  const body = { vendor, reason: reason.trim() };
  const reopen = useChange(
    (client) => client.post("/m/core/invoices/reopen/{month}", { path: { month }, body }),
    {
      onSuccess: () => {
        notify({ type: "success", content: t`${name} is open again.` });
        onEnd();
      },
    },
  );
  return (
    <ConfirmDialog
      title={t`Reopen ${name}`}
      word={month}
      action={t`Reopen`}
      busy={reopen.isPending}
      error={reopen.error}
      approval={{ kind: "month_reopen", target: { month }, buildBody: () => body }}
      ready={reason.trim() !== ""}
      onConfirm={() => reopen.mutate(undefined)}
      onCancel={onEnd}
    >
      <SpaceBetween size="s">
        <Box>
          <Trans>Invoices of this month can be created again, and imports change its costs.</Trans>
        </Box>
        <FormField label={t`Reason`} description={t`It is recorded in the audit log.`}>
          <Textarea value={reason} onChange={({ detail }) => setReason(detail.value)} rows={2} />
        </FormField>
      </SpaceBetween>
    </ConfirmDialog>
  );
}
