// Who changed what and when: the audit log.
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import { Trans, useLingui } from "@lingui/react/macro";
import { useApiPage } from "../../../api/queries.ts";
import type { components } from "../../../api/schema.ts";
import { useListState } from "../../../components/list-state.ts";
import { formatTime } from "../../../components/month.ts";
import { PageTitle } from "../../../components/page-title.tsx";
import { type Column, ServerTable, usePageSize } from "../../../components/server-table.tsx";
import { useLanguage } from "../../../language/language.tsx";
import { useActionText, useFindActions } from "./action-texts.ts";
import { AuditFilters, clearFilters, hasFilters, readTimes } from "./audit-filters.tsx";
import { AuditObject, useObjectLabel } from "./audit-object.tsx";
import { ChainState } from "./chain-state.tsx";
import { EntryDialog } from "./entry-dialog.tsx";
import { listValues } from "./entry-values.ts";
import { useValueText } from "./value-text.ts";

export type AuditEntry = components["schemas"]["AuditEntry"];
const TABLE = "audit";

export default function AuditPage() {
  const { t } = useLingui();
  const control = useListState("seq", true);
  const { page, search, sort, descending } = control.state;
  const pageSize = usePageSize(TABLE);
  const findActions = useFindActions();
  const entries = useApiPage("/m/core/audit", {
    query: {
      limit: pageSize,
      offset: (page - 1) * pageSize,
      search,
      search_actions: findActions(search).join(","),
      sort: `${descending ? "-" : ""}${sort}`,
      action: control.filter("action"),
      actor: control.filter("actor"),
      company_id: control.filter("company"),
      object_type: control.filter("object_type"),
      object_id: control.filter("object_id"),
      details: true,
      ...readTimes(control),
    },
  });
  const shown = Number(control.filter("entry"));
  return (
    <>
      <PageTitle title={t`Audit log`} />
      <ServerTable<AuditEntry>
        id={TABLE}
        title={t`Audit log`}
        description={<ChainState />}
        columns={useColumns(entries.data?.data ?? [], (seq) =>
          control.setFilter("entry", String(seq)),
        )}
        rows={entries.data?.data}
        total={entries.data?.total}
        readAll={entries.readAll}
        control={control}
        loading={entries.isFetching}
        error={entries.error}
        retry={() => entries.refetch()}
        rowId={(entry) => String(entry.seq)}
        searchLabel={t`Object, person or kind of change`}
        filters={<AuditFilters control={control} />}
        empty={
          hasFilters(control) ? (
            <Box>
              <b>
                <Trans>No change has these properties</Trans>
              </b>
              <Box padding={{ top: "xs" }}>
                <Button onClick={() => clearFilters(control)}>
                  <Trans>Show all changes</Trans>
                </Button>
              </Box>
            </Box>
          ) : (
            <Trans>Nothing has been changed yet.</Trans>
          )
        }
      />
      {shown > 0 && <EntryDialog seq={shown} onEnd={() => control.setFilter("entry", "")} />}
    </>
  );
}

function useColumns(entries: AuditEntry[], open: (seq: number) => void): Column<AuditEntry>[] {
  const { t } = useLingui();
  const { language } = useLanguage();
  const actionText = useActionText();
  const objectLabel = useObjectLabel();
  const { fieldName, valueText } = useValueText(entries);
  const summarise = (entry: AuditEntry) =>
    listValues(entry.sent)
      .filter(({ text }) => typeof text === "string" && !SAYS_LITTLE.test(text))
      .sort((a, b) => importance(b.path) - importance(a.path))
      .slice(0, 3)
      .map(({ path, text }) => `${fieldName(path)}: ${valueText(path, text)}`)
      .join(" · ");
  return [
    {
      id: "at",
      header: t`When`,
      sort: "seq",
      width: 180,
      alwaysVisible: true,
      cell: (entry) => formatTime(entry.at, language),
      csv: (entry) => entry.at,
    },
    {
      id: "actor",
      header: t`Who`,
      width: 110,
      cell: (entry) => entry.actor_name || t`Automatic`,
      csv: (entry) => entry.actor_name || t`Automatic`,
    },
    {
      id: "action",
      header: t`What`,
      width: 190,
      alwaysVisible: true,
      cell: (entry) => (
        <Button variant="inline-link" onClick={() => open(entry.seq)}>
          {actionText(entry.action)}
        </Button>
      ),
      csv: (entry) => actionText(entry.action),
    },
    {
      id: "object",
      header: t`Object`,
      width: 265,
      cell: (entry) => <AuditObject label={objectLabel(entry)} />,
      csv: (entry) => entry.resource,
    },
    { id: "values", header: t`Values`, width: 320, cell: summarise, csv: summarise },
  ];
}

// Secrets, switches that are off and ids without a name.
const SAYS_LITTLE = /^(\*\*\*|false|core|(?!cmp_)[a-z]{2,4}_[a-z2-7]{26})$/;
const IMPORTANT = [
  "exchange_rate",
  "discount_rate",
  "rounding",
  "role",
  "name",
  "invoice_no",
  "vendor",
];

/** Rates and names say more about a change than other values. */
function importance(path: string[]): number {
  const place = IMPORTANT.indexOf(path.at(-1) ?? "");
  return place === -1 ? 0 : IMPORTANT.length - place;
}
