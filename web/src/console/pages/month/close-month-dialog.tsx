// Closes a month; one that is not ready needs a reason.
import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Checkbox from "@cloudscape-design/components/checkbox";
import FormField from "@cloudscape-design/components/form-field";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Textarea from "@cloudscape-design/components/textarea";
import { plural } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { useChange } from "../../../api/queries.ts";
import { ConfirmDialog } from "../../../components/confirm-dialog.tsx";
import { useNotifications } from "../../../components/notifications.tsx";
import { formatVendorMonth } from "../../../components/vendor.ts";
import { useLanguage } from "../../../language/language.tsx";
import { useBlockerText } from "./blocker-text.ts";
import { InvoiceSums, SeeInvoices, useMonthFigures } from "./month-figures.tsx";
import type { MonthStatus } from "./month-page.tsx";
import { mergeBlockers } from "./shown-blockers.ts";
import type { StepName } from "./step-texts.ts";

const LEFT_OUT: readonly StepName[] = ["placed", "decided"];

export function CloseMonthDialog({ status, onEnd }: { status: MonthStatus; onEnd: () => void }) {
  const { t } = useLingui();
  const { language } = useLanguage();
  const { notify } = useNotifications();
  const blockerText = useBlockerText();
  const [override, setOverride] = useState(false);
  const [reason, setReason] = useState("");
  const { month, vendor } = status;
  const figures = useMonthFigures(month, vendor);
  const name = formatVendorMonth(month, vendor, language);
  const blockers = mergeBlockers(
    status.steps.find((step) => step.step === "closed")?.blockers ?? [],
  );
  // They do not keep the month open, but nobody pays for them.
  const leftOut = status.steps
    .filter(({ step, state }) => LEFT_OUT.includes(step) && state !== "done")
    .flatMap((step) => step.blockers);
  // Customers without their invoice, which can also be sent after closing.
  const unsent = status.steps
    .filter(({ step }) => step === "sent")
    .flatMap(({ blockers: open }) => open.filter(({ reason }) => reason === "invoices_unsent"));
  const body = override ? { vendor, override: true, reason: reason.trim() } : { vendor };
  const close = useChange(
    (client) => client.post("/m/core/invoices/close/{month}", { path: { month }, body }),
    {
      onSuccess: () => {
        notify({
          type: "success",
          header: t`${name} is closed.`,
          content: <SeeInvoices month={month} vendor={vendor} />,
        });
        onEnd();
      },
    },
  );
  return (
    <ConfirmDialog
      title={t`Close ${name}`}
      word={month}
      action={t`Close the month`}
      busy={close.isPending}
      error={close.error}
      approval={{ kind: "month_close", target: { month }, buildBody: () => body }}
      ready={status.can_be_closed === true || (override && reason.trim() !== "")}
      onConfirm={() => close.mutate(undefined)}
      onCancel={onEnd}
    >
      <SpaceBetween size="s">
        <Box>
          <Trans>
            After closing, imports, new invoices and entries of this month are refused. It can be
            reopened with a reason, which is recorded.
          </Trans>
        </Box>
        {figures !== undefined && figures.invoices > 0 && (
          <Box>
            {t`The month has ${plural(figures.invoices, { one: "# invoice", other: "# invoices" })}, which cannot be created again then:`}
            <InvoiceSums figures={figures} />
          </Box>
        )}
        {leftOut.length > 0 && (
          <Alert type="warning" header={t`The invoices leave something out`}>
            <ul>
              {leftOut.map((blocker) => (
                <li key={blocker.reason}>{blockerText(blocker, status).text}</li>
              ))}
            </ul>
          </Alert>
        )}
        {unsent.map((blocker) => (
          <Alert key={blocker.reason} type="warning" header={blockerText(blocker, status).text}>
            <Trans>They become final as they are, and can still be sent after closing.</Trans>
          </Alert>
        ))}
        {!status.can_be_closed && (
          <Alert type="warning" header={t`The month is not ready`}>
            <ul>
              {blockers.map((blocker) => (
                <li key={blocker.reason}>{blockerText(blocker, status).text}</li>
              ))}
            </ul>
            <Checkbox checked={override} onChange={({ detail }) => setOverride(detail.checked)}>
              <Trans>Close it all the same</Trans>
            </Checkbox>
          </Alert>
        )}
        {override && (
          <FormField label={t`Reason`} description={t`It is recorded in the audit log.`}>
            <Textarea value={reason} onChange={({ detail }) => setReason(detail.value)} rows={2} />
          </FormField>
        )}
      </SpaceBetween>
    </ConfirmDialog>
  );
}
