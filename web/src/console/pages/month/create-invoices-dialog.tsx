// Creates the invoices of all billing groups.
import Box from "@cloudscape-design/components/box";
import RadioGroup from "@cloudscape-design/components/radio-group";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { plural } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { useChange } from "../../../api/queries.ts";
import type { components } from "../../../api/schema.ts";
import { ConfirmDialog } from "../../../components/confirm-dialog.tsx";
import { formatMonth } from "../../../components/month.ts";
import { useNotifications } from "../../../components/notifications.tsx";
import { formatVendor } from "../../../components/vendor.ts";
import { useLanguage } from "../../../language/language.tsx";
import { useRevisionTexts } from "../invoices/revision-texts.ts";
import { useSkippedText } from "../invoices/skipped-groups.ts";
import { countUnsent, SeeInvoices, useMonthFigures } from "./month-figures.tsx";
import type { MonthStatus } from "./month-page.tsx";
import { listChangedGroups } from "./shown-blockers.ts";

type InvoiceWarning = components["schemas"]["InvoiceWarning"];

interface CreateInvoicesDialogProps {
  status: MonthStatus;
  onEnd: () => void;
}

export function CreateInvoicesDialog({ status, onEnd }: CreateInvoicesDialogProps) {
  const { month, vendor } = status;
  const { t } = useLingui();
  const { language } = useLanguage();
  const { notify } = useNotifications();
  const figures = useMonthFigures(month, vendor);
  const unsent = countUnsent(status);
  const changed = listChangedGroups(status);
  const [everybody, setEverybody] = useState(changed.length === 0);
  const revisionTexts = useRevisionTexts();
  // One message for each kind of warning; the success is shown above them.
  const warn = (warnings: readonly InvoiceWarning[]) => {
    for (const [code, listed] of Map.groupBy(warnings, (warning) => warning.code)) {
      const count = listed.length;
      const known = code === "issuer_missing";
      const content = known
        ? t`${count} invoices name no issuer. Create an invoice template and link it, then create the invoices again.`
        : (listed[0]?.detail ?? code);
      notify({ type: "warning", content });
    }
  };
  const skippedText = useSkippedText();
  const create = useChange(
    (client, idempotencyKey: string) =>
      client.post("/m/core/invoices/calculation/{month}", {
        path: { month },
        body: everybody
          ? { vendor, bulk: true, group: [] }
          : { vendor, bulk: false, group: changed },
        idempotencyKey,
      }),
    {
      onSuccess: (result) => {
        const count = result.created.length;
        warn(result.warnings);
        notify({
          type: "success",
          header: t`${plural(count, { one: "# invoice was", other: "# invoices were" })} created.`,
          content: (
            <>
              {skippedText(result.skipped)} <SeeInvoices month={month} vendor={vendor} />
            </>
          ),
        });
        onEnd();
      },
    },
  );
  return (
    <ConfirmDialog
      title={t`Create the invoices of ${formatMonth(month, language)} (${formatVendor(vendor)})`}
      action={t`Create`}
      busy={create.isPending}
      error={create.error}
      onConfirm={() => create.mutate(crypto.randomUUID())}
      onCancel={onEnd}
    >
      <SpaceBetween size="s">
        {changed.length > 0 && (
          <RadioGroup
            ariaRequired
            value={everybody ? "all" : "changed"}
            onChange={({ detail }) => setEverybody(detail.value === "all")}
            items={[
              {
                value: "changed",
                label: t`Only ${plural(changed.length, { one: "the # invoice", other: "the # invoices" })} that would change`,
              },
              { value: "all", label: t`All invoices that were not sent` },
            ]}
          />
        )}
        {everybody && (
          <Box>
            <Trans>Every customer with accounts of the vendor gets its invoice by its terms.</Trans>{" "}
            {figures !== undefined &&
              t`It concerns ${plural(figures.groups, { one: "# billing group", other: "# billing groups" })}.`}
          </Box>
        )}
        {unsent > 0 && <Box>{revisionTexts.again(everybody ? unsent : changed.length)}</Box>}
        {everybody && figures !== undefined && figures.invoices > unsent && (
          <Box>{revisionTexts.sent(figures.invoices - unsent)}</Box>
        )}
      </SpaceBetween>
    </ConfirmDialog>
  );
}
