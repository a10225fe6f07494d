// Corrects a sent invoice, after saying exactly what will happen: a credit note, an entry of a later month, or a
// new invoice.
import Box from "@cloudscape-design/components/box";
import FormField from "@cloudscape-design/components/form-field";
import Select from "@cloudscape-design/components/select";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Textarea from "@cloudscape-design/components/textarea";
import { Trans, useLingui } from "@lingui/react/macro";
import { useState } from "react";
import type { ApiClient, BodyOf } from "../../../api/client.ts";
import { useChange } from "../../../api/queries.ts";
import { formatAmount, isNegative } from "../../../components/amount-format.ts";
import type { ApprovalRequest } from "../../../components/approval-request.tsx";
import { ConfirmDialog } from "../../../components/confirm-dialog.tsx";
import { formatMonth, shiftMonth } from "../../../components/month.ts";
import { useNotifications } from "../../../components/notifications.tsx";
import { useLanguage } from "../../../language/language.tsx";
import { subtract } from "./corrected-amounts.ts";
import type { Correction, CorrectionSource } from "./correction-sources.ts";
import type { InvoiceDocument, InvoicePath } from "./invoice-page.tsx";

export type CorrectionKind = "credit_note" | "entry" | "replacement";

const NETTED_WITHIN = 6; // months after that of the invoice

interface CorrectionDialogProps {
  kind: CorrectionKind;
  path: InvoicePath;
  invoice: InvoiceDocument;
  source: CorrectionSource;
  oneOffLines: boolean;
  correction: Correction;
  onEnd: () => void;
}

export function CorrectionDialog(props: CorrectionDialogProps) {
  const { t } = useLingui();
  const { language } = useLanguage();
  const { notify } = useNotifications();
  const { kind, path, invoice, onEnd } = props;
  const [reason, setReason] = useState("");
  const months = Array.from({ length: NETTED_WITHIN }, (_, index) => {
    const value = shiftMonth(path.month, index + 1);
    return { value, label: formatMonth(value, language) };
  });
  const [month, setMonth] = useState(months[0]?.value ?? "");
  const number = invoice.invoice_no;
  const texts = {
    credit_note: {
      title: t`Correct invoice ${number} by a credit note`,
      action: t`Issue the credit note`,
      done: t`The credit note for invoice ${number} was issued.`,
    },
    entry: {
      title: t`Net the correction of invoice ${number}`,
      action: t`Net on the later invoice`,
      done: t`The correction of invoice ${number} is an entry of ${formatMonth(month, language)}.`,
    },
    replacement: {
      title: t`Replace invoice ${number}`,
      action: t`Replace the invoice`,
      done: t`Invoice ${number} is replaced. Send the new one to the customer.`,
    },
  }[kind];
  const correct = useChange((client) => request(client, props, reason.trim(), month), {
    onSuccess: () => {
      notify({ type: "success", content: texts.done });
      onEnd();
    },
  });
  return (
    <ConfirmDialog
      title={texts.title}
      word={number}
      action={texts.action}
      busy={correct.isPending}
      error={correct.error}
      {...(kind !== "entry" && { approval: describeApproval(props, reason.trim()) })}
      ready={reason.trim() !== ""}
      onConfirm={() => correct.mutate(undefined)}
      onCancel={onEnd}
    >
      <SpaceBetween size="m">
        <Effect {...props} month={month} />
        {kind === "entry" && (
          <FormField label={t`Month of the later invoice`}>
            <Select
              options={months}
              selectedOption={months.find((each) => each.value === month) ?? null}
              onChange={({ detail }) => setMonth(detail.selectedOption.value ?? "")}
            />
          </FormField>
        )}
        <FormField
          label={t`Reason`}
          description={
            kind === "credit_note"
              ? t`It is printed on the credit note.`
              : t`It is recorded in the audit log.`
          }
        >
          <Textarea value={reason} onChange={({ detail }) => setReason(detail.value)} rows={2} />
        </FormField>
      </SpaceBetween>
    </ConfirmDialog>
  );
}

function buildDecision(
  { kind, oneOffLines }: CorrectionDialogProps,
  reason: string,
  month: string,
): BodyOf<"post", "/m/core/costs/imports/{import_id}/drift/{company_id}"> {
  return {
    decision: kind,
    reason,
    entry_month: kind === "entry" ? month : null,
    one_off_lines: oneOffLines,
  };
}

function request(
  client: ApiClient,
  props: CorrectionDialogProps,
  reason: string,
  month: string,
): Promise<unknown> {
  const { path, source } = props;
  if ("importId" in source)
    return client.post("/m/core/costs/imports/{import_id}/drift/{company_id}", {
      path: { import_id: source.importId, company_id: path.company_id },
      body: buildDecision(props, reason, month),
    });
  if (!("terms" in source))
    return client.post("/m/core/invoices/{month}/{company_id}/{vendor}/replacement", {
      path,
      body: { reason },
    });
  return client.post("/m/core/invoices/{month}/{company_id}/{vendor}/credit-notes", {
    path,
    body: { kind: "correction", reason, terms: source.terms },
  });
}

/** The same operation as a request to a second person; a netted correction needs none. */
function describeApproval(props: CorrectionDialogProps, reason: string): ApprovalRequest {
  const { path, source } = props;
  if ("importId" in source)
    return {
      kind: "credit_note",
      target: { ...path, import_id: source.importId },
      buildBody: () => buildDecision(props, reason, ""),
    };
  if (!("terms" in source))
    return {
      kind: "credit_note",
      target: { ...path, operation: "replacement" },
      buildBody: () => ({ reason }),
    };
  return {
    kind: "credit_note",
    target: { ...path },
    buildBody: () => ({ kind: "correction", reason, terms: source.terms }),
  };
}

/** What will happen, in sentences with the amounts. */
function Effect(props: CorrectionDialogProps & { month: string }) {
  const { language } = useLanguage();
  const { kind, invoice, correction, month } = props;
  const number = invoice.invoice_no;
  const show = (value: Correction["corrected"]) => formatAmount(value, invoice.currency, language);
  const corrected = show(correction.corrected);
  if (kind === "credit_note") {
    const returned = show(subtract(0, correction.difference));
    return (
      <Box>
        <Trans>
          A credit note of {returned} with tax is issued for invoice {number}. Invoice and credit
          notes then add up to {corrected}. The note gets a number of its own and cannot be changed
          or deleted. Send it to the customer.
        </Trans>
      </Box>
    );
  }
  if (kind === "entry") {
    const amount = show(
      isNegative(correction.entryAmount)
        ? subtract(0, correction.entryAmount)
        : correction.entryAmount,
    );
    const later = formatMonth(month, language);
    return (
      <Box>
        {isNegative(correction.entryAmount) ? (
          <Trans>
            The invoice of {later} becomes lower by {amount} before tax.
          </Trans>
        ) : (
          <Trans>
            The invoice of {later} becomes higher by {amount} before tax.
          </Trans>
        )}{" "}
        <Trans>
          Invoice {number} stays as it is; the tax of the difference belongs to the later invoice.
          Further corrections of this invoice have to be netted too. This cannot be undone.
        </Trans>
      </Box>
    );
  }
  return (
    <Box>
      <Trans>
        Nothing of invoice {number} is owed any more, and a new invoice of {corrected} with tax and
        a number of its own takes its place. It names the replaced invoice and is not sent yet. This
        cannot be undone.
      </Trans>
    </Box>
  );
}
