// Issues a credit note: for the whole invoice, for some of its lines, or for amounts by hand.
import Alert from "@cloudscape-design/components/alert";
import FormField from "@cloudscape-design/components/form-field";
import RadioGroup from "@cloudscape-design/components/radio-group";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Textarea from "@cloudscape-design/components/textarea";
import { Trans, useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { exactNumber } from "../../../api/exact-json.ts";
import { useChange } from "../../../api/queries.ts";
import type { components } from "../../../api/schema.ts";
import { ConfirmDialog } from "../../../components/confirm-dialog.tsx";
import { useNotifications } from "../../../components/notifications.tsx";
import { type CreditKind, useCreditKinds } from "./credit-kinds.ts";
import { CreditedAmounts, isComplete, type TypedCredit } from "./credited-amounts.tsx";
import { CreditedLines } from "./credited-lines.tsx";
import type { InvoiceDocument, InvoicePath } from "./invoice-page.tsx";

type CreditNoteRequest = components["schemas"]["CreditNoteRequest"];

interface CreditNoteDialogProps {
  path: InvoicePath;
  invoice: InvoiceDocument;
  onEnd: () => void;
}

export function CreditNoteDialog({ path, invoice, onEnd }: CreditNoteDialogProps) {
  const { t } = useLingui();
  const { notify } = useNotifications();
  const kinds = useCreditKinds();
  const [kind, setKind] = useState<CreditKind>("full");
  const [reason, setReason] = useState("");
  const [lines, setLines] = useState<readonly string[]>([]);
  const [amounts, setAmounts] = useState<readonly TypedCredit[]>([
    { description: "", amount: "", taxFree: false },
  ]);
  const number = invoice.invoice_no;
  const buildBody = () => buildRequest(kind, reason, lines, amounts);
  const issue = useChange(
    (client) =>
      client.post("/m/core/invoices/{month}/{company_id}/{vendor}/credit-notes", {
        path,
        body: buildBody(),
      }),
    {
      onSuccess: () => {
        notify({ type: "success", content: t`The credit note for invoice ${number} was issued.` });
        onEnd();
      },
    },
  );
  const chosen = { full: true, lines: lines.length > 0, manual: amounts.every(isComplete) }[kind];
  return (
    <ConfirmDialog
      title={t`Credit note for invoice ${number}`}
      word={number}
      action={t`Issue`}
      busy={issue.isPending}
      error={issue.error}
      approval={{ kind: "credit_note", target: { ...path }, buildBody }}
      ready={reason.trim() !== "" && chosen}
      onConfirm={() => issue.mutate(undefined)}
      onCancel={onEnd}
    >
      <SpaceBetween size="m">
        <Alert type="info">
          <Trans>
            The credit note gets a number of its own and cannot be changed or deleted afterwards.
          </Trans>
        </Alert>
        <FormField label={t`What is credited`}>
          <RadioGroup
            value={kind}
            onChange={({ detail }) => setKind(detail.value as CreditKind)}
            items={Object.entries(kinds).map(([value, label]) => ({ value, label }))}
          />
        </FormField>
        {kind === "lines" && <CreditedLines path={path} chosen={lines} onChange={setLines} />}
        {kind === "manual" && <CreditedAmounts amounts={amounts} onChange={setAmounts} />}
        <FormField label={t`Reason`} description={t`It is printed on the credit note.`}>
          <Textarea value={reason} onChange={({ detail }) => setReason(detail.value)} rows={2} />
        </FormField>
      </SpaceBetween>
    </ConfirmDialog>
  );
}

function buildRequest(
  kind: CreditKind,
  reason: string,
  lines: readonly string[],
  amounts: readonly TypedCredit[],
): CreditNoteRequest {
  const request = { kind, reason: reason.trim() };
  if (kind === "lines") return { ...request, lines: [...lines] };
  if (kind === "full") return request;
  const typed = amounts.map(({ description, amount, taxFree }) => ({
    description: description.trim(),
    amount: exactNumber(amount) as number,
    tax_free: taxFree,
  }));
  return { ...request, amounts: typed };
}
