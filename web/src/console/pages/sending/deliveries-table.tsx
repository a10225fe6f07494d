// Mails with invoices: to whom, what became of them, and another attempt.
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Select from "@cloudscape-design/components/select";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import { Trans, useLingui } from "@lingui/react/macro";
import { type ReactNode, useState } from "react";
import { useApiPage, useChange } from "../../../api/queries.ts";
import { ConfirmDialog } from "../../../components/confirm-dialog.tsx";
import { type ListControl, useListState } from "../../../components/list-state.ts";
import { formatTime } from "../../../components/month.ts";
import { useNotifications } from "../../../components/notifications.tsx";
import { RouterLink } from "../../../components/router-link.tsx";
import { type Column, ServerTable, usePageSize } from "../../../components/server-table.tsx";
import { useLanguage } from "../../../language/language.tsx";
import { useMay } from "../../me.ts";
import {
  type Delivery,
  listRecipients,
  STATE_INDICATORS,
  useDeliveryTexts,
} from "./delivery-texts.ts";

const POLL_MILLISECONDS = 5_000;

interface DeliveriesTableProps {
  month: string;
  vendor: string;
  /** The mails of one customer, inside another container and without the name of the customer. */
  company?: string;
  actions?: ReactNode;
}

export function DeliveriesTable({ month, vendor, company, actions }: DeliveriesTableProps) {
  const { t } = useLingui();
  const [retried, setRetried] = useState<Delivery>();
  const table = company === undefined ? "mails" : "invoice-mails";
  const control = useListState();
  const pageSize = usePageSize(table);
  const { page, search, sort, descending } = control.state;
  const state = control.filter("state");
  const deliveries = useApiPage(
    "/m/core/invoices/{month}/deliveries",
    {
      path: { month },
      query: {
        vendor,
        limit: pageSize,
        offset: (page - 1) * pageSize,
        ...(company !== undefined && { company_id: company }),
        ...(state !== "" && { state }),
        ...(search !== "" && { search }),
        ...(sort !== "" && { sort: `${descending ? "-" : ""}${sort}` }),
      },
    },
    { refetchInterval: POLL_MILLISECONDS },
  );
  const ofInvoice = company !== undefined;
  return (
    <>
      <ServerTable<Delivery>
        id={table}
        title={t`Mails`}
        embedded
        borderless={ofInvoice}
        columns={useColumns(
          ofInvoice,
          deliveries.data?.data.some(mayBeRetried) ?? false,
          setRetried,
        )}
        rows={deliveries.data?.data}
        total={deliveries.data?.total}
        readAll={deliveries.readAll}
        control={control}
        loading={deliveries.isLoading}
        error={deliveries.error}
        retry={() => deliveries.refetch()}
        rowId={(each) => each.delivery_id}
        {...(!ofInvoice && { searchLabel: t`Customer, number or address` })}
        filters={!ofInvoice && <StateFilter control={control} />}
        narrowing={["state"]}
        actions={actions}
        empty={<Trans>No invoice was mailed.</Trans>}
      />
      {retried && <RetryDialog delivery={retried} onEnd={() => setRetried(undefined)} />}
    </>
  );
}

function StateFilter({ control }: { control: ListControl }) {
  const { t } = useLingui();
  const { states } = useDeliveryTexts();
  const options = [
    { value: "", label: t`All states` },
    ...Object.entries(states).map(([value, label]) => ({ value, label })),
  ];
  const state = control.filter("state");
  return (
    <Select
      ariaLabel={t`State`}
      options={options}
      selectedOption={options.find(({ value }) => value === state) ?? null}
      onChange={({ detail }) => control.setFilter("state", detail.selectedOption.value ?? "")}
    />
  );
}

function mayBeRetried({ state }: Delivery): boolean {
  return state === "failed" || state === "unknown";
}

function useColumns(
  ofInvoice: boolean,
  hasFailed: boolean,
  onRetry: (each: Delivery) => void,
): Column<Delivery>[] {
  const { t } = useLingui();
  const { language } = useLanguage();
  const { states } = useDeliveryTexts();
  const mayRetry = useMay()("ModifyInvoice") && hasFailed;
  const customer: Column<Delivery> = {
    id: "customer",
    header: t`Customer`,
    sort: "billinggroup_name",
    alwaysVisible: true,
    width: 180,
    cell: (each) => (
      <RouterLink to={`/invoices/${each.month}/${each.company_id}/${each.vendor}?tab=mails`}>
        {each.billinggroup_name}
      </RouterLink>
    ),
    csv: (each) => each.billinggroup_name,
  };
  const actions: Column<Delivery> = {
    id: "actions",
    header: t`Actions`,
    width: 110,
    // it is not among the columns that are shown before the list is loaded
    alwaysVisible: true,
    cell: (each) =>
      mayBeRetried(each) && (
        <Button ariaLabel={t`Send invoice ${each.invoice_no} again`} onClick={() => onRetry(each)}>
          <Trans>Send again</Trans>
        </Button>
      ),
    csv: () => "",
  };
  return [
    ...(ofInvoice ? [] : [customer]),
    {
      id: "invoice",
      header: t`Invoice`,
      sort: "invoice_no",
      width: 130,
      // the page of an invoice has its number as a title
      hiddenAtFirst: ofInvoice,
      cell: (each) => each.invoice_no,
      csv: (each) => each.invoice_no,
    },
    {
      id: "recipients",
      header: t`Recipients`,
      width: ofInvoice ? 220 : 280,
      cell: (each) => listRecipients(each.recipients),
      csv: (each) => listRecipients(each.recipients),
    },
    {
      id: "state",
      header: t`State`,
      sort: "state",
      width: ofInvoice ? 170 : 190,
      cell: (each) => <State delivery={each} />,
      csv: (each) => [states[each.state], each.cause ?? ""].filter(Boolean).join(": "),
    },
    {
      id: "time",
      header: t`Time`,
      sort: "update_time",
      width: 180,
      cell: (each) => formatTime(each.update_time, language),
      csv: (each) => each.update_time,
    },
    ...(mayRetry ? [actions] : []),
  ];
}

function State({ delivery }: { delivery: Delivery }) {
  const { t } = useLingui();
  const { states } = useDeliveryTexts();
  return (
    <>
      <StatusIndicator type={STATE_INDICATORS[delivery.state]}>
        {states[delivery.state]}
      </StatusIndicator>
      {delivery.cause !== null && (
        <Box variant="small" display="block" color="text-body-secondary">
          {delivery.cause}
        </Box>
      )}
      {delivery.refused.map(({ email, cause }) => (
        <Box key={email} variant="small" display="block" color="text-status-error">
          {t`Not accepted for ${email}: ${cause}`}
        </Box>
      ))}
    </>
  );
}

function RetryDialog({ delivery, onEnd }: { delivery: Delivery; onEnd: () => void }) {
  const { t } = useLingui();
  const { notify } = useNotifications();
  const number = delivery.invoice_no;
  const retry = useChange(
    (client, idempotencyKey: string) =>
      client.post("/m/core/deliveries/{delivery_id}/retry", {
        path: { delivery_id: delivery.delivery_id },
        idempotencyKey,
      }),
    {
      onSuccess: () => {
        notify({ type: "success", content: t`Invoice ${number} is sent again.` });
        onEnd();
      },
    },
  );
  return (
    <ConfirmDialog
      title={t`Send invoice ${number} again`}
      action={t`Send again`}
      busy={retry.isPending}
      error={retry.error}
      onConfirm={() => retry.mutate(crypto.randomUUID())}
      onCancel={onEnd}
    >
      {delivery.state === "unknown" ? (
        <Trans>
          The mail server may have accepted this mail already. The customer then receives it twice,
          with the same Message-ID. It goes to the contacts as they are now.
        </Trans>
      ) : (
        <Trans>The mail goes to the contacts of the customer as they are now.</Trans>
      )}
    </ConfirmDialog>
  );
}
