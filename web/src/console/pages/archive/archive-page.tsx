// Issued documents by date, amount and counterparty, and their signed export for auditors.
import Button from "@cloudscape-design/components/button";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import { useApiPage } from "../../../api/queries.ts";
import type { components } from "../../../api/schema.ts";
import { useDownload } from "../../../components/download.ts";
import { useListState } from "../../../components/list-state.ts";
import { PageTitle } from "../../../components/page-title.tsx";
import { ServerTable, usePageSize } from "../../../components/server-table.tsx";
import { useArchiveColumns } from "./archive-columns.tsx";
import { ArchiveFilters, FILTER_NAMES, readFilters } from "./archive-filters.tsx";

export type ArchivedDocument = components["schemas"]["ArchivedDocument"];

const TABLE = "archive";

export default function ArchivePage() {
  const { t } = useLingui();
  const control = useListState("issue_date", true);
  const pageSize = usePageSize(TABLE);
  const columns = useArchiveColumns();
  const { page, search, sort, descending } = control.state;
  const selected = { ...readFilters(control), ...(search !== "" && { search }) };
  const found = useApiPage("/m/core/archive", {
    query: {
      ...selected,
      limit: pageSize,
      offset: (page - 1) * pageSize,
      sort: `${descending ? "-" : ""}${sort}`,
    },
  });
  return (
    <>
      <PageTitle title={t`Archive`} />
      <ServerTable<ArchivedDocument>
        id={TABLE}
        title={t`Archive`}
        description={t`Issued invoices and credit notes, by date, amount and customer.`}
        columns={columns}
        rows={found.data?.data}
        total={found.data?.total}
        readAll={found.readAll}
        control={control}
        loading={found.isLoading}
        error={found.error}
        retry={() => found.refetch()}
        rowId={(row) => row.number}
        searchLabel={t`Number, or name on the document`}
        filters={<ArchiveFilters control={control} />}
        actions={<ExportButton selected={selected} disabled={(found.data?.total ?? 0) === 0} />}
        narrowing={FILTER_NAMES}
        empty={<NothingIssued />}
      />
    </>
  );
}

interface ExportButtonProps {
  selected: Record<string, string>;
  disabled: boolean;
}

/** Exports what the list shows, on all pages. */
function ExportButton({ selected, disabled }: ExportButtonProps) {
  const download = useDownload();
  return (
    <Button
      iconName="download"
      disabled={disabled}
      loading={download.isPending}
      onClick={() =>
        download.mutate({ address: "/m/core/archive/zip", query: selected, name: "archive.zip" })
      }
    >
      <Trans>Export signed</Trans>
    </Button>
  );
}

function NothingIssued() {
  return (
    <SpaceBetween size="xs">
      <b>
        <Trans>No documents yet</Trans>
      </b>
      <span>
        <Trans>Invoices appear here once they are created, and credit notes once issued.</Trans>
      </span>
    </SpaceBetween>
  );
}
