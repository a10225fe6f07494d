// Saves the exchange rate of a month for the billing groups that are billed in yen.
import Box from "@cloudscape-design/components/box";
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { type ApiClient, ApiError } from "../../../api/client.ts";
import { exactNumber, isDecimalNumber } from "../../../api/exact-json.ts";
import { buildTermsBody } from "../../../api/invoice-terms.ts";
import { useApi, useChange } from "../../../api/queries.ts";
import type { components } from "../../../api/schema.ts";
import { ConfirmDialog } from "../../../components/confirm-dialog.tsx";
import { formatMonth } from "../../../components/month.ts";
import { useNotifications } from "../../../components/notifications.tsx";
import { formatVendor } from "../../../components/vendor.ts";
import { useLanguage } from "../../../language/language.tsx";
import type { MonthStatus } from "./month-page.tsx";
import { useRateText } from "./rate-text.ts";

type BillingGroup = components["schemas"]["BillingGroupRecord"];

interface ExchangeRateDialogProps {
  status: MonthStatus;
  onEnd: () => void;
}

export function ExchangeRateDialog({ status, onEnd }: ExchangeRateDialogProps) {
  const { month, vendor } = status;
  const { t } = useLingui();
  const { language } = useLanguage();
  const { notify } = useNotifications();
  const [rate, setRate] = useState("");
  const groups = useApi("/m/core/billinggroup");
  const billed = (groups.data ?? []).filter((group) => vendor in group.invoices);
  const save = useChange((client) => saveRate(client, { month, vendor, rate, groups: billed }), {
    onSuccess: () => {
      notify({ type: "success", content: t`The exchange rate ${rate} was saved.` });
      onEnd();
    },
  });
  const current = useRateText()(status.exchange_rates);
  const valid = isDecimalNumber(rate) && !rate.trim().startsWith("-") && /[1-9]/.test(rate);
  return (
    <ConfirmDialog
      title={t`Exchange rate of ${formatMonth(month, language)} (${formatVendor(vendor)})`}
      action={t`Save`}
      busy={save.isPending || groups.isLoading}
      error={save.error ?? groups.error}
      approval={{
        kind: "rates",
        target: { month },
        buildBody: () => buildRateBody({ vendor, rate, groups: billed }),
      }}
      ready={valid && billed.length > 0}
      onConfirm={() => save.mutate(undefined)}
      onCancel={onEnd}
    >
      <SpaceBetween size="s">
        <Box>
          <Trans>
            The rate is saved for {billed.length} billing groups. Invoices that exist keep their
            rate until they are created again.
          </Trans>
        </Box>
        <FormField
          label={t`Yen for one dollar`}
          description={current === "" ? t`No rate is saved yet.` : t`Now: ${current}`}
          errorText={rate !== "" && !valid ? t`Enter a number above 0, such as 155.20.` : ""}
        >
          <Input
            value={rate}
            onChange={({ detail }) => setRate(detail.value)}
            inputMode="decimal"
            autoFocus
          />
        </FormField>
      </SpaceBetween>
    </ConfirmDialog>
  );
}

interface MonthRate {
  month: string;
  vendor: string;
  rate: string;
  groups: readonly BillingGroup[];
}

function buildRateBody({ vendor, rate, groups }: Omit<MonthRate, "month">) {
  return {
    vendor,
    billing_groups: groups.map((group) => group.company_id),
    exchange_rate: exactNumber(rate),
  };
}

/** A rate needs the terms of the month: those of the groups that have none are saved first. */
async function saveRate(client: ApiClient, { month, vendor, rate, groups }: MonthRate) {
  const save = () =>
    client.put("/m/core/invoices/exchangerate/{month}", {
      path: { month },
      body: buildRateBody({ vendor, rate, groups }),
    });
  try {
    return await save();
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== "not_ready") throw error;
    const missing = new Set(error.violations.map((violation) => violation.field));
    const settings: Record<string, unknown> = {};
    for (const { company_id, invoices } of groups) {
      const terms = invoices[vendor];
      if (terms !== undefined && missing.has(company_id))
        settings[company_id] = { [vendor]: buildTermsBody(terms) };
    }
    await client.put("/m/core/invoices/save/{month}", {
      path: { month },
      body: { internal: false, settings },
    });
    return save();
  }
}
