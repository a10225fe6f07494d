// Approves a request, which executes its operation, or rejects it with a reason.
import Box from "@cloudscape-design/components/box";
import FormField from "@cloudscape-design/components/form-field";
import Textarea from "@cloudscape-design/components/textarea";
import { Trans, useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { useChange } from "../../../api/queries.ts";
import { ConfirmDialog } from "../../../components/confirm-dialog.tsx";
import { useNotifications } from "../../../components/notifications.tsx";
import { type Approval, useApprovalKinds } from "./approval-texts.ts";

interface DecisionDialogProps {
  approval: Approval;
  onEnd: () => void;
}

export function ApproveDialog({ approval, onEnd }: DecisionDialogProps) {
  const { t } = useLingui();
  const { notify } = useNotifications();
  const kind = useApprovalKinds()[approval.kind];
  const approve = useChange(
    (client) =>
      client.post("/m/core/approvals/{approval_id}/approve", {
        path: { approval_id: approval.approval_id },
        body: { review_hash: approval.review_hash },
      }),
    {
      onSuccess: () => {
        notify({ type: "success", content: t`Approved and done: ${kind}` });
        onEnd();
      },
    },
  );
  return (
    <ConfirmDialog
      title={t`Approve: ${kind}`}
      action={t`Approve`}
      busy={approve.isPending}
      error={approve.error}
      onConfirm={() => approve.mutate(undefined)}
      onCancel={onEnd}
    >
      <Box>
        <Trans>
          The operation is done at once, exactly as you have seen it. If anything has changed since,
          nothing is done.
        </Trans>
      </Box>
    </ConfirmDialog>
  );
}

export function RejectDialog({ approval, onEnd }: DecisionDialogProps) {
  const { t } = useLingui();
  const { notify } = useNotifications();
  const kind = useApprovalKinds()[approval.kind];
  const [reason, setReason] = useState("");
  const reject = useChange(
    (client) =>
      client.post("/m/core/approvals/{approval_id}/reject", {
        path: { approval_id: approval.approval_id },
        body: { reason: reason.trim() },
      }),
    {
      onSuccess: () => {
        notify({ type: "success", content: t`The request was rejected.` });
        onEnd();
      },
    },
  );
  return (
    <ConfirmDialog
      title={t`Reject: ${kind}`}
      action={t`Reject`}
      busy={reject.isPending}
      error={reject.error}
      ready={reason.trim() !== ""}
      onConfirm={() => reject.mutate(undefined)}
      onCancel={onEnd}
    >
      <FormField label={t`Reason`} description={t`The requester sees it.`}>
        <Textarea value={reason} onChange={({ detail }) => setReason(detail.value)} rows={2} />
      </FormField>
    </ConfirmDialog>
  );
}
