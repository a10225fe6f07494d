// One change in full: who, when, through what, and the values before and after it.
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import Modal from "@cloudscape-design/components/modal";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Table from "@cloudscape-design/components/table";
import { Trans, useLingui } from "@lingui/react/macro";
import { useApi } from "../../../api/queries.ts";
import { formatTime } from "../../../components/month.ts";
import { QueryState } from "../../../components/query-state.tsx";
import { useLanguage } from "../../../language/language.tsx";
import { useActionText } from "./action-texts.ts";
import { AuditObject, useObjectLabel } from "./audit-object.tsx";
import type { AuditEntry } from "./audit-page.tsx";
import { compareWithOlder, listCustomers } from "./entry-values.ts";
import { useValueText } from "./value-text.ts";

const OLDER_MAX = 200;

export function EntryDialog({ seq, onEnd }: { seq: number; onEnd: () => void }) {
  const { t } = useLingui();
  const found = useApi("/m/core/audit", { query: { before: seq + 1, limit: 1, details: true } });
  const entry = found.data?.find((each) => each.seq === seq);
  const actionText = useActionText();
  return (
    <Modal
      visible
      size="large"
      header={entry === undefined ? t`A change` : actionText(entry.action)}
      closeAriaLabel={t`Close`}
      onDismiss={onEnd}
      footer={
        <Box float="right">
          <Button variant="primary" onClick={onEnd}>
            <Trans>Close</Trans>
          </Button>
        </Box>
      }
    >
      <QueryState query={found}>
        {() => (entry === undefined ? t`Nothing found` : <Details entry={entry} />)}
      </QueryState>
    </Modal>
  );
}

function Details({ entry }: { entry: AuditEntry }) {
  const { t } = useLingui();
  const { language } = useLanguage();
  const objectLabel = useObjectLabel();
  return (
    <SpaceBetween size="l">
      <KeyValuePairs
        columns={3}
        items={[
          { label: t`When`, value: formatTime(entry.at, language) },
          { label: t`Who`, value: entry.actor_name || t`Automatic` },
          {
            label: t`Object`,
            value: <AuditObject label={objectLabel(entry)} />,
          },
          { label: t`Through`, value: readClient(entry) ?? t`Console` },
          { label: t`Request`, value: entry.request_id },
          { label: t`Number in the log`, value: String(entry.seq) },
        ]}
      />
      <Values entry={entry} />
    </SpaceBetween>
  );
}

/** The API client of the change; a session of the console is none. */
function readClient({ client_id: id }: AuditEntry): string | undefined {
  return id === null || id.startsWith("ses_") ? undefined : id;
}

function Values({ entry }: { entry: AuditEntry }) {
  const { t } = useLingui();
  const [objectType = "", objectId] = entry.resource.split("/");
  const older = useApi("/m/core/audit", {
    query: { object_type: objectType, object_id: objectId, before: entry.seq, limit: OLDER_MAX },
  });
  const values = compareWithOlder(entry, older.data ?? []);
  const { fieldName, valueText } = useValueText([entry], listCustomers(values));
  if (values.length === 0)
    return (
      <Box color="text-body-secondary">
        <Trans>This change has no values.</Trans>
      </Box>
    );
  return (
    <Table
      variant="embedded"
      wrapLines
      loading={older.isLoading}
      loadingText={t`Loading`}
      items={values.map((value) => ({ ...value, id: value.path.join("/") }))}
      trackBy="id"
      header={<Box variant="h3">{t`Before and after`}</Box>}
      footer={
        <Box variant="small">
          <Trans>
            Values before are those that the log recorded last. A dash means that none was recorded.
          </Trans>
        </Box>
      }
      columnDefinitions={[
        {
          id: "field",
          header: t`Field`,
          cell: (row) => fieldName(row.path),
          isRowHeader: true,
          minWidth: 160,
        },
        {
          id: "before",
          header: t`Before`,
          cell: (row) => (row.before === undefined ? "–" : valueText(row.path, row.before)),
        },
        {
          id: "after",
          header: t`After`,
          cell: (row) => {
            const text = valueText(row.path, row.text);
            const isChanged = String(row.before) !== String(row.text);
            return isChanged && row.before !== undefined ? <b>{text}</b> : text;
          },
        },
      ]}
    />
  );
}
