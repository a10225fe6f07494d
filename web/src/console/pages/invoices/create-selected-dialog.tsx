// Creates the invoices of the selected billing groups.
import Box from "@cloudscape-design/components/box";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { plural } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { useChange } from "../../../api/queries.ts";
import { ConfirmDialog } from "../../../components/confirm-dialog.tsx";
import { useNotifications } from "../../../components/notifications.tsx";
import { formatVendorMonth } from "../../../components/vendor.ts";
import { useLanguage } from "../../../language/language.tsx";
import { useWarningTexts } from "./invoice-warnings.ts";
import type { ShortInvoice } from "./invoices-page.tsx";
import { useRevisionTexts } from "./revision-texts.ts";
import { useSkippedText } from "./skipped-groups.ts";

interface CreateSelectedDialogProps {
  month: string;
  vendor: string;
  groups: readonly ShortInvoice[];
  onEnd: (created: boolean) => void;
}

const NAMES_SHOWN = 10;
/** An invoice that was sent is not created again: it is corrected. */
const FINAL: readonly ShortInvoice["state"][] = ["sent", "credited", "cancelled", "replaced"];

export function CreateSelectedDialog({ month, vendor, groups, onEnd }: CreateSelectedDialogProps) {
  const { t } = useLingui();
  const { language } = useLanguage();
  const { notify } = useNotifications();
  const warningTexts = useWarningTexts();
  const created = groups.filter(({ state }) => state === null || !FINAL.includes(state));
  const sent = groups.length - created.length;
  const again = created.filter(({ state }) => state !== null).length;
  const skippedText = useSkippedText();
  const text = useRevisionTexts();
  const create = useChange(
    (client, idempotencyKey: string) =>
      client.post("/m/core/invoices/calculation/{month}", {
        path: { month },
        body: { vendor, bulk: false, group: created.map((group) => group.company_id) },
        idempotencyKey,
      }),
    {
      onSuccess: (result) => {
        const count = result.created.length;
        notify({
          type: "success",
          header: t`${plural(count, { one: "# invoice was", other: "# invoices were" })} created.`,
          content: skippedText(result.skipped),
        });
        for (const code of new Set(result.warnings.map((warning) => warning.code)))
          notify({ type: "warning", content: warningTexts[code].text });
        onEnd(true);
      },
    },
  );
  const names = created.slice(0, NAMES_SHOWN).map((group) => group.billinggroup_name);
  const others = created.length - names.length;
  const month_name = formatVendorMonth(month, vendor, language);
  return (
    <ConfirmDialog
      title={t`Create invoices of ${month_name}`}
      action={t`Create`}
      busy={create.isPending}
      error={create.error}
      ready={created.length > 0}
      onConfirm={() => create.mutate(crypto.randomUUID())}
      onCancel={() => onEnd(false)}
    >
      <SpaceBetween size="s">
        <Box>
          {t`${plural(created.length, { one: "# billing group gets", other: "# billing groups get" })} an invoice by the saved terms of the month.`}
        </Box>
        {again > 0 && <Box>{text.again(again)}</Box>}
        {sent > 0 && <Box>{text.sent(sent)}</Box>}
        <Box color="text-body-secondary">
          {names.join(language === "ja" ? "、" : ", ")}{" "}
          {others > 0 && <Trans>and {others} more</Trans>}
        </Box>
      </SpaceBetween>
    </ConfirmDialog>
  );
}
