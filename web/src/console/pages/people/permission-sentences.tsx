// What somebody may do, as sentences by area.
import Box from "@cloudscape-design/components/box";
import ColumnLayout from "@cloudscape-design/components/column-layout";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import { Trans } from "@lingui/react/macro";
import { ADMIN, selectSentences, usePermissionAreas } from "../../permission-texts.ts";

export function PermissionSentences({ permissions }: { permissions: readonly string[] }) {
  const areas = usePermissionAreas();
  if (permissions.includes(ADMIN))
    return (
      <StatusIndicator type="warning">
        <Trans>may do everything, also give permissions to others</Trans>
      </StatusIndicator>
    );
  const selected = selectSentences(areas, permissions);
  if (selected.length === 0)
    return (
      <Box color="text-body-secondary">
        <Trans>Nothing yet.</Trans>
      </Box>
    );
  return (
    <ColumnLayout columns={2} minColumnWidth={260}>
      {selected.map((area) => (
        <div key={area.title}>
          <Box variant="small">{area.title}</Box>
          {area.sentences.map((sentence) => (
            <Box key={sentence}>{sentence}</Box>
          ))}
        </div>
      ))}
    </ColumnLayout>
  );
}
