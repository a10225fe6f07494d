// Releases an import that is on hold, for a recorded reason.
import Box from "@cloudscape-design/components/box";
import FormField from "@cloudscape-design/components/form-field";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Textarea from "@cloudscape-design/components/textarea";
import { Trans, useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { useChange } from "../../../api/queries.ts";
import { ConfirmDialog } from "../../../components/confirm-dialog.tsx";
import { useNotifications } from "../../../components/notifications.tsx";
import { RouterLink } from "../../../components/router-link.tsx";
import { formatVendorMonth } from "../../../components/vendor.ts";
import { useLanguage } from "../../../language/language.tsx";
import type { ImportRecord } from "./import-state.tsx";
import { useParkedReason } from "./parked-reason.ts";

export function ReleaseDialog({ record, onEnd }: { record: ImportRecord; onEnd: () => void }) {
  const { t } = useLingui();
  const { language } = useLanguage();
  const { notify } = useNotifications();
  const parkedReason = useParkedReason();
  const [reason, setReason] = useState("");
  const month = record.month ?? "";
  const name = formatVendorMonth(month, record.vendor, language);
  const release = useChange(
    (client) =>
      client.post("/m/core/costs/imports/{import_id}/release", {
        path: { import_id: record.import_id },
        body: { reason: reason.trim() },
      }),
    {
      onSuccess: () => {
        notify({
          type: "success",
          content: (
            <>
              {t`The import of ${name} is released and is being used.`}{" "}
              <RouterLink to={`/months/${month}/${record.vendor}`} color="inverted">
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
      title={t`Release the import of ${name}`}
      word={month}
      action={t`Release`}
      busy={release.isPending}
      error={release.error}
      approval={{
        kind: "import_release",
        target: { import_id: record.import_id },
        buildBody: () => ({ reason: reason.trim() }),
      }}
      ready={reason.trim() !== ""}
      onConfirm={() => release.mutate(undefined)}
      onCancel={onEnd}
    >
      <SpaceBetween size="s">
        {record.parked_reason !== null && <Box>{parkedReason(record.parked_reason)}</Box>}
        <Box>
          <Trans>
            The costs of this import replace the present costs of the month as they are, and
            invoices are created from them.
          </Trans>
        </Box>
        <FormField
          label={t`Reason`}
          description={t`Why the costs are right all the same. It is recorded in the audit log.`}
        >
          <Textarea value={reason} onChange={({ detail }) => setReason(detail.value)} rows={2} />
        </FormField>
      </SpaceBetween>
    </ConfirmDialog>
  );
}
