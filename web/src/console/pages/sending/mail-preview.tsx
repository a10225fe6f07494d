// A mail as the customer will read it.
import Box from "@cloudscape-design/components/box";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import Modal from "@cloudscape-design/components/modal";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useLingui } from "@lingui/react/macro";
import { listRecipients, type PreviewedMail } from "./delivery-texts.ts";
import "./mail-preview.css";

export function MailPreview({ mail, onEnd }: { mail: PreviewedMail; onEnd: () => void }) {
  const { t } = useLingui();
  const none = "–";
  return (
    <Modal
      visible
      size="large"
      header={t`Mail to ${mail.billinggroup_name}`}
      closeAriaLabel={t`Close`}
      onDismiss={onEnd}
    >
      <SpaceBetween size="m">
        <KeyValuePairs
          columns={1}
          items={[
            { label: t`Recipients`, value: listRecipients(mail.recipients) || none },
            { label: t`Subject`, value: mail.subject },
            { label: t`Attachment`, value: mail.attachment ?? none },
          ]}
        />
        <Box>
          <div className="mail-text">{mail.text}</div>
        </Box>
      </SpaceBetween>
    </Modal>
  );
}
