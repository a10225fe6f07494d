// The invoices of a month: who gets what.
import Button from "@cloudscape-design/components/button";
import Select from "@cloudscape-design/components/select";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import { keepPreviousData } from "@tanstack/react-query";
import { useState } from "react";
import { useNavigate, useParams, useSearchParams } from "react-router";
import { useApi, useReadAll } from "../../../api/queries.ts";
import type { components } from "../../../api/schema.ts";
import { useListState } from "../../../components/list-state.ts";
import { formatMonth } from "../../../components/month.ts";
import { PageTitle } from "../../../components/page-title.tsx";
import { RouterLink } from "../../../components/router-link.tsx";
import { ServerTable, usePageSize } from "../../../components/server-table.tsx";
import { formatVendor } from "../../../components/vendor.ts";
import { useLanguage } from "../../../language/language.tsx";
import { useMay } from "../../me.ts";
import { MonthVendorChoice } from "../../month-vendor-choice.tsx";
import { NewestMonth } from "../../newest-month.tsx";
import { CreateSelectedDialog } from "./create-selected-dialog.tsx";
import { DownloadZipButton } from "./download-zip-button.tsx";
import { useInvoiceColumns, useInvoiceFile } from "./invoice-columns.tsx";
import { InvoiceTotals } from "./invoice-totals.tsx";

export type ShortInvoice = components["schemas"]["ShortInvoice"];

const TABLE = "invoices";
const PATH = "/m/core/invoices/{month}/summary";

export default function InvoicesPage() {
  const { t } = useLingui();
  const { month } = useParams();
  const vendor = useSearchParams()[0].get("vendor");
  if (month === undefined || vendor === null)
    return (
      <NewestMonth
        title={t`Invoices`}
        path={(newest, of) => `/invoices/${month ?? newest}?vendor=${vendor ?? of}`}
      />
    );
  return <InvoiceList key={`${month} ${vendor}`} month={month} vendor={vendor} />;
}

function InvoiceList({ month, vendor }: { month: string; vendor: string }) {
  const { t } = useLingui();
  const { language } = useLanguage();
  const navigate = useNavigate();
  const may = useMay();
  const control = useListState("billinggroup_id");
  const pageSize = usePageSize(TABLE);
  const [selected, setSelected] = useState<ShortInvoice[]>([]);
  const [creating, setCreating] = useState(false);
  const { page, search, sort, descending } = control.state;
  const request = {
    path: { month },
    query: {
      vendor,
      limit: pageSize,
      offset: (page - 1) * pageSize,
      search,
      sort: `${descending ? "-" : ""}${sort}`,
      invoiced: control.filter("invoiced"),
    },
  };
  const summary = useApi(PATH, request, { placeholderData: keepPreviousData });
  const readAll = useReadAll(PATH, request, ({ invoices }) => invoices);
  const of = { month, vendor, closed: summary.data?.closed ?? false };
  const columns = useInvoiceColumns(of);
  const file = useInvoiceFile(of);
  const title = t`Invoices of ${formatMonth(month, language)}`;
  // the invoices of a closed month stay as they are
  const mayBill = may("ModifyInvoice") && summary.data?.closed === false;
  return (
    <>
      <PageTitle title={title} />
      <ServerTable
        id={TABLE}
        title={title}
        columns={columns}
        rows={summary.data?.invoices}
        total={summary.data?.count}
        readAll={readAll}
        control={control}
        loading={summary.isLoading}
        error={summary.error}
        retry={() => summary.refetch()}
        csv={file}
        rowId={(row) => row.company_id}
        rowLabel={(row) => row.billinggroup_name}
        searchLabel={t`Customer or invoice number`}
        {...(mayBill && { selected, onSelect: setSelected })}
        filters={
          <SpaceBetween direction="horizontal" size="xs" alignItems="end">
            <InvoicedFilter control={control} />
            <MonthVendorChoice
              month={month}
              vendor={vendor}
              onChange={(chosen, of) => navigate(`/invoices/${chosen}?vendor=${of}`)}
            />
          </SpaceBetween>
        }
        actions={
          <SpaceBetween direction="horizontal" size="xs">
            <DownloadZipButton month={month} vendor={vendor} />
            {mayBill && (
              <Button
                variant="primary"
                disabled={selected.length === 0}
                disabledReason={t`Select customers in the table first.`}
                onClick={() => setCreating(true)}
              >
                <Trans>Create invoices</Trans>
              </Button>
            )}
          </SpaceBetween>
        }
        narrowing={["invoiced"]}
        empty={<NoInvoices month={month} vendor={vendor} />}
        footer={<InvoiceTotals totals={summary.data?.totals ?? []} />}
      />
      {creating && (
        <CreateSelectedDialog
          month={month}
          vendor={vendor}
          groups={selected}
          onEnd={(created) => {
            setCreating(false);
            if (created) setSelected([]);
          }}
        />
      )}
    </>
  );
}

function InvoicedFilter({ control }: { control: ReturnType<typeof useListState> }) {
  const { t } = useLingui();
  const options = [
    { value: "", label: t`All billing groups` },
    { value: "true", label: t`With an invoice` },
    { value: "false", label: t`Without an invoice` },
  ];
  const chosen = control.filter("invoiced");
  return (
    <Select
      ariaLabel={t`Which billing groups`}
      selectedOption={options.find((option) => option.value === chosen) ?? null}
      options={options}
      onChange={({ detail }) => control.setFilter("invoiced", detail.selectedOption.value ?? "")}
    />
  );
}

function NoInvoices({ month, vendor }: { month: string; vendor: string }) {
  return (
    <SpaceBetween size="xs">
      <b>
        <Trans>No billing group has {formatVendor(vendor)} accounts</Trans>
      </b>
      <RouterLink to={`/months/${month}/${vendor}`}>
        <Trans>See the steps of the month</Trans>
      </RouterLink>
    </SpaceBetween>
  );
}
