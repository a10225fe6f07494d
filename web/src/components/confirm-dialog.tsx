// Asks before an irreversible step: what will happen, and a word to type.
import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import Modal from "@cloudscape-design/components/modal";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import { type ReactNode, useState } from "react";
import type { ApiError } from "../api/client.ts";
import {
  ApprovalNotice,
  type ApprovalRequest,
  isApprovalRequired,
  useApprovalRequest,
} from "./approval-request.tsx";
import { useErrorText } from "./error-text.ts";

interface ConfirmDialogProps {
  title: string;
  /** What the person must type, such as the month; nothing for steps that can be undone. */
  word?: string;
  action: string;
  busy: boolean;
  error: ApiError | null;
  onConfirm: () => void;
  onCancel: () => void;
  /** False keeps the action disabled, for example while a reason is missing. */
  ready?: boolean;
  /** The same operation as a request, offered if a second person has to approve it. */
  approval?: ApprovalRequest;
  children: ReactNode;
}

export function ConfirmDialog(props: ConfirmDialogProps) {
  const { t } = useLingui();
  const errorText = useErrorText();
  const [typed, setTyped] = useState("");
  const [comment, setComment] = useState("");
  const ask = useApprovalRequest(props.onCancel);
  const { word, approval } = props;
  const offered = approval !== undefined && isApprovalRequired(props.error);
  const allowed = (word === undefined || typed.trim() === word) && props.ready !== false;
  return (
    <Modal
      visible
      header={props.title}
      closeAriaLabel={t`Close`}
      onDismiss={props.onCancel}
      footer={
        <Box float="right">
          <SpaceBetween direction="horizontal" size="xs">
            <Button variant="link" onClick={props.onCancel}>
              <Trans>Cancel</Trans>
            </Button>
            <Button
              variant="primary"
              disabled={!allowed}
              loading={props.busy || ask.isPending}
              onClick={offered ? () => ask.mutate({ ...approval, comment }) : props.onConfirm}
            >
              {offered ? t`Request approval` : props.action}
            </Button>
          </SpaceBetween>
        </Box>
      }
    >
      <SpaceBetween size="m">
        {offered && <ApprovalNotice comment={comment} onComment={setComment} error={ask.error} />}
        {props.error !== null && !offered && (
          // Screen readers read it out when it appears.
          <div role="alert">
            <Alert type="error">{errorText(props.error)}</Alert>
          </div>
        )}
        <div>{props.children}</div>
        {word !== undefined && (
          <FormField label={t`Type ${word} to confirm`}>
            <Input
              value={typed}
              onChange={({ detail }) => setTyped(detail.value)}
              autoComplete={false}
            />
          </FormField>
        )}
      </SpaceBetween>
    </Modal>
  );
}
