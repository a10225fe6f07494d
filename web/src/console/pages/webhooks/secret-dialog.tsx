// Shows the secret of an endpoint once.
import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import CopyToClipboard from "@cloudscape-design/components/copy-to-clipboard";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import Modal from "@cloudscape-design/components/modal";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import type { ReactNode } from "react";

interface SecretDialogProps {
  title: string;
  secret: string;
  onEnd: () => void;
  children?: ReactNode;
}

export function SecretDialog({ title, secret, onEnd, children }: SecretDialogProps) {
  const { t } = useLingui();
  return (
    <Modal
      visible
      header={title}
      closeAriaLabel={t`Close`}
      onDismiss={({ detail }) => detail.reason !== "overlay" && onEnd()}
      footer={
        <Box float="right">
          <Button variant="primary" onClick={onEnd}>
            <Trans>I have stored the secret</Trans>
          </Button>
        </Box>
      }
    >
      <SpaceBetween size="m">
        <Alert type="warning">
          <Trans>
            The secret is shown only now. The receiving program needs it to verify that events are
            genuine.
          </Trans>
        </Alert>
        {children}
        <KeyValuePairs
          columns={1}
          items={[
            {
              label: t`Secret`,
              value: (
                <CopyToClipboard
                  variant="inline"
                  textToCopy={secret}
                  copyButtonAriaLabel={t`Copy the secret`}
                  copySuccessText={t`Copied`}
                  copyErrorText={t`Copying failed`}
                />
              ),
            },
          ]}
        />
      </SpaceBetween>
    </Modal>
  );
}
