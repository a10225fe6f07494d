// A wide dialog with a form: an error above it, cancel and one action below.
import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Modal from "@cloudscape-design/components/modal";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import type { ReactNode } from "react";

interface FormDialogProps {
  title: string;
  action: string;
  busy: boolean;
  error: string;
  ready: boolean;
  onSave: () => void;
  onCancel: () => void;
  children: ReactNode;
}

export function FormDialog(props: FormDialogProps) {
  const { t } = useLingui();
  return (
    <Modal
      visible
      size="large"
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
              disabled={!props.ready}
              loading={props.busy}
              onClick={props.onSave}
            >
              {props.action}
            </Button>
          </SpaceBetween>
        </Box>
      }
    >
      <SpaceBetween size="m">
        {props.error !== "" && <Alert type="error">{props.error}</Alert>}
        {props.children}
      </SpaceBetween>
    </Modal>
  );
}
