// Takes applied entries back.
import Box from "@cloudscape-design/components/box";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { plural } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { useChange } from "../../../api/queries.ts";
import { ConfirmDialog } from "../../../components/confirm-dialog.tsx";
import { formatMonth } from "../../../components/month.ts";
import { useNotifications } from "../../../components/notifications.tsx";
import { RouterLink } from "../../../components/router-link.tsx";
import { useLanguage } from "../../../language/language.tsx";
import type { Entry } from "./entries-page.tsx";
import { EntrySummary } from "./entry-summary.tsx";

interface UndoDialogProps {
  entries: Entry[];
  month: string;
  vendor: string;
  onEnd: (done: boolean) => void;
}

export function UndoDialog({ entries, month, vendor, onEnd }: UndoDialogProps) {
  const { t } = useLingui();
  const { language } = useLanguage();
  const { notify } = useNotifications();
  const count = entries.length;
  const months = [...new Set(entries.map((entry) => entry.applied_month ?? month))].sort();
  const names = months.map((each) => formatMonth(each, language)).join(", ");
  const undo = useChange(
    (client) =>
      client.post("/m/core/billinggroup/recalculation", {
        body: {
          data: entries.map((entry) => entry.id),
          month: months[0] ?? month,
          exchange_rate: 0,
          tax_free: false,
          apply: false,
          vendor,
        },
      }),
    {
      onSuccess: () => {
        notify({
          type: "success",
          content: (
            <>
              {t`${plural(count, { one: "# entry was", other: "# entries were" })} taken back from ${names}.`}{" "}
              <RouterLink to={`/months/${months[0] ?? month}/${vendor}`} color="inverted">
                <Trans>See the month</Trans>
              </RouterLink>
            </>
          ),
        });
        onEnd(true);
      },
    },
  );
  return (
    <ConfirmDialog
      title={t`Undo ${plural(count, { one: "# entry", other: "# entries" })}`}
      action={t`Undo`}
      busy={undo.isPending}
      error={undo.error}
      onConfirm={() => undo.mutate(undefined)}
      onCancel={() => onEnd(false)}
    >
      <SpaceBetween size="m">
        <EntrySummary entries={entries} />
        <Box>
          <Trans>
            Applied to: {names}. Invoices that exist contain the entry until they are created again.
            An entry that the vendor's latest files no longer contain disappears.
          </Trans>
        </Box>
      </SpaceBetween>
    </ConfirmDialog>
  );
}
