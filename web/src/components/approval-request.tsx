// Requests the approval of a second person for an operation that was refused without it.
import Alert from "@cloudscape-design/components/alert";
import Button from "@cloudscape-design/components/button";
import FormField from "@cloudscape-design/components/form-field";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Textarea from "@cloudscape-design/components/textarea";
import { Trans, useLingui } from "@lingui/react/macro";
import { useState } from "react";
import type { ApiError, BodyOf } from "../api/client.ts";
import { useChange } from "../api/queries.ts";
import { useErrorText } from "./error-text.ts";
import { useNotifications } from "./notifications.tsx";
import { RouterLink } from "./router-link.tsx";

type RequestBody = BodyOf<"post", "/m/core/approvals">;

/** The operation: its kind, the parameters of its path and its body. */
export interface ApprovalRequest {
  kind: RequestBody["kind"];
  target?: Record<string, string>;
  /** Built when approval is requested: a form that is not complete yet has no body. */
  buildBody: () => object;
}

export function isApprovalRequired(error: ApiError | null): boolean {
  return error?.code === "approval_required";
}

export function useApprovalRequest(onRequested: () => void) {
  const { t } = useLingui();
  const { notify } = useNotifications();
  return useChange(
    (client, { kind, target, buildBody, comment }: ApprovalRequest & { comment: string }) => {
      const body = buildBody() as Record<string, unknown>;
      return client.post("/m/core/approvals", {
        body: { kind, target: target ?? {}, body, comment },
      });
    },
    {
      onSuccess: ({ approval_id }) => {
        notify({
          type: "success",
          header: t`Approval was requested.`,
          content: (
            <RouterLink to={`/approvals/${approval_id}`} color="inverted">
              <Trans>See the request</Trans>
            </RouterLink>
          ),
        });
        onRequested();
      },
    },
  );
}

interface ApprovalNoticeProps {
  comment: string;
  onComment: (comment: string) => void;
  error: ApiError | null;
}

/** Says that a second person has to approve, and asks for a comment to that person. */
export function ApprovalNotice({ comment, onComment, error }: ApprovalNoticeProps) {
  const { t } = useLingui();
  const errorText = useErrorText();
  return (
    <div role="alert">
      <SpaceBetween size="s">
        <Alert type="info" header={t`A second person has to approve this`}>
          <Trans>Nothing was changed. It is done as soon as somebody else approves it.</Trans>
        </Alert>
        {error !== null && <Alert type="error">{errorText(error)}</Alert>}
        <FormField label={t`Comment for the approver`}>
          <Textarea
            value={comment}
            onChange={({ detail }) => onComment(detail.value)}
            rows={2}
            ariaLabel={t`Comment for the approver`}
          />
        </FormField>
      </SpaceBetween>
    </div>
  );
}

interface ApprovalOfferProps {
  error: ApiError | null;
  request: ApprovalRequest;
  onRequested: () => void;
}

/** For forms: the notice with its own button. Shows nothing unless approval is required. */
export function ApprovalOffer({ error, request, onRequested }: ApprovalOfferProps) {
  const [comment, setComment] = useState("");
  const ask = useApprovalRequest(onRequested);
  if (!isApprovalRequired(error)) return null;
  return (
    <SpaceBetween size="s">
      <ApprovalNotice comment={comment} onComment={setComment} error={ask.error} />
      <Button
        formAction="none"
        variant="primary"
        loading={ask.isPending}
        onClick={() => ask.mutate({ ...request, comment })}
      >
        <Trans>Request approval</Trans>
      </Button>
    </SpaceBetween>
  );
}
