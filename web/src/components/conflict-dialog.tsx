// Shows both versions when two people changed the same object.
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Modal from "@cloudscape-design/components/modal";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Table from "@cloudscape-design/components/table";
import { Trans, useLingui } from "@lingui/react/macro";

export interface Difference {
  field: string;
  mine: string;
  theirs: string;
}

interface ConflictDialogProps {
  differences: Difference[];
  /** Saves my version over theirs. */
  onOverwrite: () => void;
  /** Gives up my changes and shows theirs. */
  onReload: () => void;
  onCancel: () => void;
}

export function ConflictDialog({
  differences,
  onOverwrite,
  onReload,
  onCancel,
}: ConflictDialogProps) {
  const { t } = useLingui();
  return (
    <Modal
      visible
      size="large"
      header={t`Somebody else has changed this`}
      closeAriaLabel={t`Close`}
      onDismiss={onCancel}
      footer={
        <Box float="right">
          <SpaceBetween direction="horizontal" size="xs">
            <Button variant="link" onClick={onCancel}>
              <Trans>Keep editing</Trans>
            </Button>
            <Button onClick={onReload}>
              <Trans>Take their version</Trans>
            </Button>
            <Button variant="primary" onClick={onOverwrite}>
              <Trans>Save my version</Trans>
            </Button>
          </SpaceBetween>
        </Box>
      }
    >
      <SpaceBetween size="m">
        <Box>
          <Trans>It was saved after you opened it. Compare both versions and choose one.</Trans>
        </Box>
        <Table
          variant="embedded"
          items={differences}
          trackBy="field"
          wrapLines
          columnDefinitions={[
            { id: "field", header: t`Field`, cell: (row) => row.field, isRowHeader: true },
            { id: "mine", header: t`Your version`, cell: (row) => row.mine },
            { id: "theirs", header: t`Their version`, cell: (row) => row.theirs },
          ]}
        />
      </SpaceBetween>
    </Modal>
  );
}
