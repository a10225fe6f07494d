// Requests the approval of all invoices of a month that were neither approved nor sent.
import Box from "@cloudscape-design/components/box";
import FormField from "@cloudscape-design/components/form-field";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Textarea from "@cloudscape-design/components/textarea";
import { plural } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { useApi } from "../../../api/queries.ts";
import { useApprovalRequest } from "../../../components/approval-request.tsx";
import { ConfirmDialog } from "../../../components/confirm-dialog.tsx";
import { formatVendorMonth } from "../../../components/vendor.ts";
import { useLanguage } from "../../../language/language.tsx";

const INVOICES_MAX = 5_000;

interface RequestInvoicesDialogProps {
  month: string;
  vendor: string;
  onEnd: () => void;
}

export function RequestInvoicesDialog({ month, vendor, onEnd }: RequestInvoicesDialogProps) {
  const { t } = useLingui();
  const { language } = useLanguage();
  const [comment, setComment] = useState("");
  const summary = useApi("/m/core/invoices/{month}/summary", {
    path: { month },
    query: { vendor, invoiced: true, limit: INVOICES_MAX },
  });
  const created = (summary.data?.invoices ?? []).filter(({ state }) => state === "created");
  const ask = useApprovalRequest(onEnd);
  const name = formatVendorMonth(month, vendor, language);
  const revisions = Object.fromEntries(
    created.map(({ company_id, revision }) => [company_id, revision ?? 0]),
  );
  return (
    <ConfirmDialog
      title={t`Request approval of the invoices of ${name}`}
      action={t`Request approval`}
      busy={ask.isPending || summary.isLoading}
      error={ask.error ?? summary.error}
      ready={created.length > 0}
      onConfirm={() =>
        ask.mutate({
          kind: "invoice_issue",
          target: { month },
          buildBody: () => ({ vendor, revisions }),
          comment,
        })
      }
      onCancel={onEnd}
    >
      <SpaceBetween size="s">
        <Box>
          {t`${plural(created.length, { one: "# invoice waits", other: "# invoices wait" })} for approval.`}{" "}
          <Trans>An invoice that is created again has to be approved again.</Trans>
        </Box>
        <FormField label={t`Comment for the approver`}>
          <Textarea value={comment} onChange={({ detail }) => setComment(detail.value)} rows={2} />
        </FormField>
      </SpaceBetween>
    </ConfirmDialog>
  );
}
