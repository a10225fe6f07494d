// Applies entries to the invoices of a month.
import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Checkbox from "@cloudscape-design/components/checkbox";
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import RadioGroup from "@cloudscape-design/components/radio-group";
import Select from "@cloudscape-design/components/select";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { plural } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { exactNumber, isDecimalNumber } from "../../../api/exact-json.ts";
import { useApi, useChange } from "../../../api/queries.ts";
import { ConfirmDialog } from "../../../components/confirm-dialog.tsx";
import { currentMonth, formatMonth, shiftMonth } from "../../../components/month.ts";
import { useNotifications } from "../../../components/notifications.tsx";
import { RouterLink } from "../../../components/router-link.tsx";
import { useLanguage } from "../../../language/language.tsx";
import type { Entry } from "./entries-page.tsx";
import { EntrySummary } from "./entry-summary.tsx";

interface ApplyDialogProps {
  entries: Entry[];
  month: string;
  vendor: string;
  onEnd: (done: boolean) => void;
}

export function ApplyDialog({ entries, month, vendor, onEnd }: ApplyDialogProps) {
  const { t } = useLingui();
  const { language } = useLanguage();
  const { notify } = useNotifications();
  const months = useOpenMonths(month, vendor);
  const [chosen, setChosen] = useState<string>();
  const [ownRate, setOwnRate] = useState(false);
  const [rate, setRate] = useState("");
  const [taxFree, setTaxFree] = useState(false);
  const target = chosen ?? months[0] ?? "";
  const count = entries.length;
  const apply = useChange(
    (client) =>
      client.post("/m/core/billinggroup/recalculation", {
        body: {
          data: entries.map((entry) => entry.id),
          month: target,
          exchange_rate: exactNumber(ownRate ? rate : "0"),
          tax_free: taxFree,
          apply: true,
          vendor,
        },
      }),
    {
      onSuccess: () => {
        const name = formatMonth(target, language);
        notify({
          type: "success",
          content: (
            <>
              {t`${plural(count, { one: "# entry is", other: "# entries are" })} applied to ${name}. Create its invoices again to include it.`}{" "}
              <RouterLink to={`/months/${target}/${vendor}`} color="inverted">
                <Trans>See the month</Trans>
              </RouterLink>
            </>
          ),
        });
        onEnd(true);
      },
    },
  );
  const validRate =
    !ownRate || (isDecimalNumber(rate) && /[1-9]/.test(rate) && !rate.includes("-"));
  const homeless = entries.filter((entry) => entry.company_id === "").length;
  const options = months.map((value) => ({ value, label: formatMonth(value, language) }));
  return (
    <ConfirmDialog
      title={t`Apply ${plural(count, { one: "# entry", other: "# entries" })}`}
      action={t`Apply`}
      busy={apply.isPending}
      error={apply.error}
      ready={validRate && target !== "" && homeless === 0}
      onConfirm={() => apply.mutate(undefined)}
      onCancel={() => onEnd(false)}
    >
      <SpaceBetween size="m">
        <EntrySummary entries={entries} />
        {homeless > 0 && (
          <Alert type="warning">
            <Trans>
              The account of an entry belongs to no customer. Assign the account first, or leave the
              entry out.
            </Trans>
          </Alert>
        )}
        <FormField
          label={t`Month whose invoices contain it`}
          description={t`An open month, not before that of the entry.`}
        >
          <Select
            selectedOption={options.find((option) => option.value === target) ?? null}
            options={options}
            onChange={({ detail }) => setChosen(detail.selectedOption.value)}
            empty={t`No month is open.`}
          />
        </FormField>
        <FormField label={t`Exchange rate`}>
          <RadioGroup
            value={ownRate ? "own" : "invoice"}
            onChange={({ detail }) => setOwnRate(detail.value === "own")}
            items={[
              { value: "invoice", label: t`The rate of the invoice` },
              { value: "own", label: t`Another rate` },
            ]}
          />
        </FormField>
        {ownRate && (
          <FormField
            label={t`Yen for one dollar`}
            errorText={rate !== "" && !validRate ? t`Enter a number above 0, such as 155.20.` : ""}
          >
            <Input
              value={rate}
              inputMode="decimal"
              placeholder="155.20"
              onChange={({ detail }) => setRate(detail.value)}
            />
          </FormField>
        )}
        <Checkbox checked={taxFree} onChange={({ detail }) => setTaxFree(detail.checked)}>
          <Trans>Without consumption tax</Trans>
        </Checkbox>
        <Box color="text-body-secondary">
          <Trans>It can be undone while the month is open.</Trans>
        </Box>
      </SpaceBetween>
    </ConfirmDialog>
  );
}

/** The months that are not closed, from that of the entries to the next one; the shown month first. */
function useOpenMonths(month: string, vendor: string): string[] {
  const months = useApi("/m/core/months", { query: { limit: 100, steps: false } });
  const closed = new Set(
    (months.data ?? [])
      .filter((each) => each.vendor === vendor && each.state === "closed")
      .map((each) => each.month),
  );
  const found: string[] = [];
  for (let each = month; each <= currentMonth(); each = shiftMonth(each, 1))
    if (!closed.has(each)) found.push(each);
  return found;
}
