// One-off entries of a month: charges, credits and refunds, applied to invoices or not.
import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import SegmentedControl from "@cloudscape-design/components/segmented-control";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { useApi, useApiPage } from "../../../api/queries.ts";
import type { components } from "../../../api/schema.ts";
import { type ListControl, useListState } from "../../../components/list-state.ts";
import { currentMonth, formatMonth, shiftMonth } from "../../../components/month.ts";
import { PageTitle } from "../../../components/page-title.tsx";
import { RouterLink } from "../../../components/router-link.tsx";
import { ServerTable, usePageSize } from "../../../components/server-table.tsx";
import { formatVendor, formatVendorMonth } from "../../../components/vendor.ts";
import { useLanguage } from "../../../language/language.tsx";
import { MonthSelect, useKnownMonths, useVendors, VendorChoice } from "../../choices.tsx";
import { useMay } from "../../me.ts";
import { ApplyDialog } from "./apply-dialog.tsx";
import { useEntryColumns } from "./entry-columns.tsx";
import { UndoDialog } from "./undo-dialog.tsx";

export type Entry = components["schemas"]["RecalculationRecord"];
type Dialog = { action: "apply" | "undo"; entries: Entry[] };
type Shown = "undecided" | "applied" | "all";

export default function EntriesPage() {
  const { t } = useLingui();
  const { language } = useLanguage();
  const may = useMay();
  const control = useListState();
  const known = useKnownMonths();
  const vendors = useVendors();
  const [selected, setSelected] = useState<Entry[]>([]);
  const [dialog, setDialog] = useState<Dialog>();
  const vendor = control.filter("vendor") || (vendors[0] ?? "");
  const month = control.filter("month") || (known[0] ?? shiftMonth(currentMonth(), -1));
  const shown = readShown(control.filter("show"));
  const entries = useEntries(control, month, vendor, shown);
  const status = useApi("/m/core/months/{month}", { path: { month }, query: { vendor } });
  const mayApply = may("ModifyBillingGroup");
  const open = (action: Dialog["action"], rows: Entry[]) => setDialog({ action, entries: rows });
  const columns = useEntryColumns(month, vendor, mayApply ? open : undefined);
  const undecided = selected.filter((entry) => !entry.apply);
  const applied = selected.filter((entry) => entry.apply);
  const changeFilter = (name: string, value: string) => {
    setSelected([]);
    control.setFilter(name, value);
  };
  return (
    <>
      <PageTitle title={t`One-off entries`} />
      <ServerTable
        id="entries"
        title={t`One-off entries`}
        description={t`Charges, credits and refunds outside usage. An invoice contains those that you apply.`}
        columns={columns}
        rows={entries.data?.data}
        total={entries.data?.total}
        readAll={entries.readAll}
        control={control}
        loading={entries.isLoading}
        error={entries.error}
        retry={() => entries.refetch()}
        rowId={(row) => row.id}
        rowLabel={(row) => `${row.customer_name || row.customer_id} ${row.description}`}
        searchLabel={t`Search by account, customer or text`}
        {...(mayApply && { selected, onSelect: setSelected })}
        actions={
          mayApply && (
            <SpaceBetween direction="horizontal" size="xs">
              <Button disabled={applied.length === 0} onClick={() => open("undo", applied)}>
                <Trans>Undo</Trans>
              </Button>
              <Button
                variant="primary"
                disabled={undecided.length === 0}
                onClick={() => open("apply", undecided)}
              >
                {undecided.length > 1 ? t`Apply ${undecided.length} entries` : t`Apply`}
              </Button>
            </SpaceBetween>
          )
        }
        filters={
          <SpaceBetween direction="horizontal" size="xs" alignItems="end">
            <ShownChoice shown={shown} onChange={(value) => changeFilter("show", value)} />
            <VendorChoice value={vendor} onChange={(value) => changeFilter("vendor", value)} />
            <MonthSelect value={month} onChange={(value) => changeFilter("month", value)} />
          </SpaceBetween>
        }
        empty={<NoEntries shown={shown} month={month} vendor={vendor} control={control} />}
        footer={
          status.data?.state === "closed" && (
            <Alert type="info">
              <Trans>
                {formatMonth(month, language)} ({formatVendor(vendor)}) is closed. Its entries can
                be applied to a later month that is open.
              </Trans>
            </Alert>
          )
        }
      />
      {dialog?.action === "apply" && (
        <ApplyDialog
          entries={dialog.entries}
          month={month}
          vendor={vendor}
          onEnd={(done) => {
            setDialog(undefined);
            if (done) setSelected([]);
          }}
        />
      )}
      {dialog?.action === "undo" && (
        <UndoDialog
          entries={dialog.entries}
          month={month}
          vendor={vendor}
          onEnd={(done) => {
            setDialog(undefined);
            if (done) setSelected([]);
          }}
        />
      )}
    </>
  );
}

function readShown(value: string): Shown {
  return value === "applied" || value === "all" ? value : "undecided";
}

function useEntries(control: ListControl, month: string, vendor: string, shown: Shown) {
  const size = usePageSize("entries");
  const { state } = control;
  return useApiPage(
    "/m/core/billinggroup/recalculation/{month}",
    {
      path: { month },
      query: {
        vendor,
        limit: size,
        offset: (state.page - 1) * size,
        search: state.search,
        sort: state.sort === "" ? undefined : `${state.descending ? "-" : ""}${state.sort}`,
        applied: shown === "all" ? undefined : shown === "applied",
        details: true,
      },
    },
    { enabled: vendor !== "" },
  );
}

function ShownChoice({ shown, onChange }: { shown: Shown; onChange: (shown: string) => void }) {
  const { t } = useLingui();
  return (
    <SegmentedControl
      label={t`Show`}
      selectedId={shown}
      options={[
        { id: "undecided", text: t`Undecided` },
        { id: "applied", text: t`Applied` },
        { id: "all", text: t`All` },
      ]}
      onChange={({ detail }) => onChange(detail.selectedId)}
    />
  );
}

interface NoEntriesProps {
  shown: Shown;
  month: string;
  vendor: string;
  control: ListControl;
}

function NoEntries({ shown, month, vendor, control }: NoEntriesProps) {
  const { language } = useLanguage();
  const name = formatVendorMonth(month, vendor, language);
  return (
    <SpaceBetween size="xs" alignItems="center">
      <b>
        {shown === "undecided" ? (
          <Trans>Nothing is left to decide in {name}.</Trans>
        ) : (
          <Trans>{name} has no such entries.</Trans>
        )}
      </b>
      <SpaceBetween direction="horizontal" size="m" alignItems="center">
        {shown !== "all" && (
          <Button onClick={() => control.setFilter("show", "all")}>
            <Trans>Show all entries</Trans>
          </Button>
        )}
        <Box>
          <RouterLink to={`/months/${month}/${vendor}`}>
            <Trans>Back to the month</Trans>
          </RouterLink>
        </Box>
      </SpaceBetween>
    </SpaceBetween>
  );
}
