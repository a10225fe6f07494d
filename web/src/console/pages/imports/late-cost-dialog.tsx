// Decides about the late costs of one customer, after a look at the corrected invoice.
import Alert from "@cloudscape-design/components/alert";
import Checkbox from "@cloudscape-design/components/checkbox";
import FormField from "@cloudscape-design/components/form-field";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import RadioGroup from "@cloudscape-design/components/radio-group";
import Select from "@cloudscape-design/components/select";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Textarea from "@cloudscape-design/components/textarea";
import { Trans, useLingui } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { ApiError } from "../../../api/client.ts";
import { useChange, useClient } from "../../../api/queries.ts";
import type { components } from "../../../api/schema.ts";
import { Amount } from "../../../components/amount.tsx";
import { ConfirmDialog } from "../../../components/confirm-dialog.tsx";
import { formatMonth, shiftMonth } from "../../../components/month.ts";
import { useNotifications } from "../../../components/notifications.tsx";
import { QueryState } from "../../../components/query-state.tsx";
import { useLanguage } from "../../../language/language.tsx";
import type { ImportRecord } from "./import-state.tsx";
import type { DriftOfGroup } from "./late-costs.tsx";

type Preview = components["schemas"]["CorrectionPreview"];
type DecisionKind = components["schemas"]["DriftDecisionRequest"]["decision"];

const NETTED_WITHIN = 6; // months after that of the invoice

export function useDecisionTexts(): Record<DecisionKind, { choice: string; done: string }> {
  const { t } = useLingui();
  return {
    entry: { choice: t`Net on the invoice of a later month`, done: t`Netted on a later invoice` },
    credit_note: { choice: t`Issue a credit note`, done: t`Credited` },
    replacement: { choice: t`Replace the invoice`, done: t`Invoice replaced` },
    dismissed: { choice: t`Do nothing`, done: t`Dismissed` },
  };
}

interface LateCostDialogProps {
  record: ImportRecord;
  group: DriftOfGroup;
  onEnd: () => void;
}

export function LateCostDialog({ record, group, onEnd }: LateCostDialogProps) {
  const { t } = useLingui();
  const { language } = useLanguage();
  const { notify } = useNotifications();
  const texts = useDecisionTexts();
  const invoiceMonth = record.month ?? "";
  const months = Array.from({ length: NETTED_WITHIN }, (_, index) => {
    const value = shiftMonth(invoiceMonth, index + 1);
    return { value, label: formatMonth(value, language) };
  });
  const [kind, setKind] = useState<DecisionKind>(group.invoice_no === null ? "dismissed" : "entry");
  const [month, setMonth] = useState(months[0]?.value ?? "");
  const [oneOffLines, setOneOffLines] = useState(false);
  const [reason, setReason] = useState("");
  const name = group.billinggroup_name;
  const ids = { import_id: record.import_id, company_id: group.company_id };
  const body = {
    decision: kind,
    reason: reason.trim(),
    entry_month: kind === "entry" ? month : null,
    one_off_lines: oneOffLines,
  };
  const decide = useChange(
    (client) =>
      client.post("/m/core/costs/imports/{import_id}/drift/{company_id}", { path: ids, body }),
    {
      onSuccess: () => {
        notify({ type: "success", content: t`The late costs of ${name} are decided.` });
        onEnd();
      },
    },
  );
  const kinds: DecisionKind[] =
    group.invoice_no === null
      ? ["dismissed"]
      : ["entry", "credit_note", "replacement", "dismissed"];
  return (
    <ConfirmDialog
      title={t`Late costs of ${name}`}
      action={t`Decide`}
      busy={decide.isPending}
      error={decide.error}
      approval={{
        kind: "credit_note",
        target: { ...ids, month: invoiceMonth, vendor: record.vendor },
        buildBody: () => body,
      }}
      ready={reason.trim() !== ""}
      onConfirm={() => decide.mutate(undefined)}
      onCancel={onEnd}
    >
      <SpaceBetween size="m">
        {group.invoice_no === null ? (
          <Alert type="info">
            <Trans>This customer has no invoice of the month that could be corrected.</Trans>
          </Alert>
        ) : (
          <CorrectedInvoice record={record} group={group} oneOffLines={oneOffLines} />
        )}
        {group.late_costs.some((sum) => String(sum.one_off_lines) !== "0") && (
          <Checkbox checked={oneOffLines} onChange={({ detail }) => setOneOffLines(detail.checked)}>
            <Trans>Bill one-off lines too</Trans>
          </Checkbox>
        )}
        <FormField label={t`Decision`} description={t`It cannot be changed later.`}>
          <RadioGroup
            items={kinds.map((value) => ({ value, label: texts[value].choice }))}
            value={kind}
            onChange={({ detail }) => setKind(detail.value as DecisionKind)}
          />
        </FormField>
        {kind === "entry" && (
          <FormField label={t`Month of the later invoice`}>
            <Select
              options={months}
              selectedOption={months.find((each) => each.value === month) ?? null}
              onChange={({ detail }) => setMonth(detail.selectedOption.value ?? "")}
            />
          </FormField>
        )}
        <FormField label={t`Reason`} description={t`It is recorded in the audit log.`}>
          <Textarea value={reason} onChange={({ detail }) => setReason(detail.value)} rows={2} />
        </FormField>
      </SpaceBetween>
    </ConfirmDialog>
  );
}

interface CorrectedInvoiceProps {
  record: ImportRecord;
  group: DriftOfGroup;
  oneOffLines: boolean;
}

/** The invoice as it was and as it would be; nothing is stored. */
function CorrectedInvoice({ record, group, oneOffLines }: CorrectedInvoiceProps) {
  const { t } = useLingui();
  const client = useClient();
  const path = {
    month: record.month ?? "",
    company_id: group.company_id,
    vendor: record.vendor,
  };
  const preview = useQuery<Preview, ApiError>({
    queryKey: ["correction-preview", path, record.import_id, oneOffLines],
    queryFn: ({ signal }) =>
      client.post("/m/core/invoices/{month}/{company_id}/{vendor}/correction-preview", {
        path,
        body: { import_id: record.import_id, one_off_lines: oneOffLines },
        signal,
      }),
    retry: false,
  });
  return (
    <QueryState query={preview}>
      {(found) => (
        <KeyValuePairs
          columns={3}
          items={[
            {
              label: t`Invoice with tax`,
              value: <Amount value={found.invoiced_total} currency={found.currency} />,
            },
            {
              label: t`Corrected invoice with tax`,
              value: <Amount value={found.corrected_total} currency={found.currency} />,
            },
            {
              label: t`Difference to what is left`,
              value: <Amount value={found.difference} currency={found.currency} />,
            },
          ]}
        />
      )}
    </QueryState>
  );
}
