// The reports that the person has saved with their period, tags and search.
import Button from "@cloudscape-design/components/button";
import { Trans, useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { useApi, useChange } from "../../api/queries.ts";
import type { components } from "../../api/schema.ts";
import { ConfirmDialog } from "../../components/confirm-dialog.tsx";
import { useNotifications } from "../../components/notifications.tsx";
import { PageTitle } from "../../components/page-title.tsx";
import { RouterLink } from "../../components/router-link.tsx";
import type { Column } from "../../components/server-table.tsx";
import { BrowserTable } from "../browser-table.tsx";
import { useMayChange } from "../me.ts";
import { useNavigationItems } from "../navigation.tsx";

type SavedFilter = components["schemas"]["SavedFilter"];

export default function FiltersPage() {
  const { t } = useLingui();
  const mayChange = useMayChange()("ReadAccount");
  const filters = useApi("/m/portal/filters");
  const pages = useNavigationItems().flatMap((group) => group.pages);
  const [doomed, setDoomed] = useState<SavedFilter>();
  const findPage = ({ content }: SavedFilter) => pages.find(({ path }) => path === content.path);
  const columns: Column<SavedFilter>[] = [
    {
      id: "name",
      header: t`Name`,
      sort: "name",
      width: 280,
      alwaysVisible: true,
      cell: (filter) => {
        const page = findPage(filter);
        if (page === undefined) return filter.name;
        return (
          <RouterLink to={page.path + String(filter.content.search ?? "")}>
            {filter.name}
          </RouterLink>
        );
      },
      csv: (filter) => filter.name,
    },
    {
      id: "page",
      header: t`Report`,
      sort: "page",
      width: 220,
      cell: (filter) => findPage(filter)?.title ?? t`Not available`,
      csv: (filter) => findPage(filter)?.title ?? "",
    },
  ];
  if (mayChange)
    columns.push({
      id: "delete",
      header: t`Action`,
      width: 120,
      cell: (filter) => (
        <Button
          variant="inline-link"
          ariaLabel={t`Delete ${filter.name}`}
          onClick={() => setDoomed(filter)}
        >
          <Trans>Delete</Trans>
        </Button>
      ),
      csv: () => "",
    });
  return (
    <>
      <PageTitle title={t`Saved filters`} />
      <BrowserTable<SavedFilter>
        id="portal-filters"
        title={t`Saved filters`}
        description={t`Only you see them.`}
        columns={columns}
        rows={filters.data}
        query={filters}
        rowId={(filter) => filter.filter_id}
        searchLabel={t`Name`}
        empty={t`Open a usage report and choose "Save as filter".`}
      />
      {doomed !== undefined && <DeleteDialog filter={doomed} onEnd={() => setDoomed(undefined)} />}
    </>
  );
}

function DeleteDialog({ filter, onEnd }: { filter: SavedFilter; onEnd: () => void }) {
  const { t } = useLingui();
  const { notify } = useNotifications();
  const remove = useChange(
    (client) =>
      client.delete("/m/portal/filters/{filter_id}", { path: { filter_id: filter.filter_id } }),
    {
      onSuccess: () => {
        notify({ type: "success", content: t`${filter.name} was deleted.` });
        onEnd();
      },
    },
  );
  return (
    <ConfirmDialog
      title={t`Delete ${filter.name}`}
      action={t`Delete`}
      busy={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate(undefined)}
      onCancel={onEnd}
    >
      <Trans>The report itself stays.</Trans>
    </ConfirmDialog>
  );
}
