// One invoice: as printed, with its lines and files.
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Container from "@cloudscape-design/components/container";
import ContentLayout from "@cloudscape-design/components/content-layout";
import Header from "@cloudscape-design/components/header";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import { type UseQueryResult, useQuery } from "@tanstack/react-query";
import { useParams } from "react-router";
import type { ApiError } from "../../api/client.ts";
import type { Decimal } from "../../api/exact-json.ts";
import { PRINTED, useApi, useClient } from "../../api/queries.ts";
import type { components } from "../../api/schema.ts";
import { Amount } from "../../components/amount.tsx";
import { saveFile } from "../../components/csv.ts";
import { addDecimals } from "../../components/decimal-sum.ts";
import { useDownload } from "../../components/download.ts";
import { formatDate, formatMonth } from "../../components/month.ts";
import { PageTitle } from "../../components/page-title.tsx";
import { PaymentState } from "../../components/payment-state.tsx";
import { PDF, PdfViewer } from "../../components/pdf-viewer.tsx";
import { QueryState } from "../../components/query-state.tsx";
import type { Column } from "../../components/server-table.tsx";
import { formatVendor } from "../../components/vendor.ts";
import { useLanguage } from "../../language/language.tsx";
import { BrowserTable } from "../browser-table.tsx";
import { InvoiceNotice, InvoiceState } from "../invoice-state.tsx";
import { useFlag } from "../me.ts";

type Invoice = components["schemas"]["CustomerInvoice"];

/** A line of the invoice: usage of a service, a fee, an entry or an item. */
interface Line {
  key: string;
  name: string;
  service: string;
  charge: Decimal | null;
  amount: Decimal;
}
type InvoicePath = { month: string; vendor: string };

export default function InvoicePage() {
  const { t } = useLingui();
  const { language } = useLanguage();
  const { month = "", vendor = "" } = useParams();
  const path = { month, vendor };
  const invoice = useApi("/m/portal/invoices/{month}/{vendor}", { path });
  const title = t`Invoice of ${formatMonth(month, language)} (${formatVendor(vendor)})`;
  return (
    <ContentLayout
      header={
        <Header variant="h1" actions={<Files path={path} />}>
          {title}
        </Header>
      }
    >
      <PageTitle title={title} />
      <QueryState query={invoice}>
        {(data) => (
          <SpaceBetween size="l">
            <InvoiceNotice invoice={data} />
            <Amounts invoice={data} />
            <Printed path={path} number={data.invoice_no} revision={data.revision} />
            <Lines invoice={data} query={invoice} />
          </SpaceBetween>
        )}
      </QueryState>
    </ContentLayout>
  );
}

interface LinesProps {
  invoice: Invoice;
  query: UseQueryResult<Invoice, ApiError>;
}

function Lines({ invoice, query }: LinesProps) {
  const { t } = useLingui();
  return (
    <BrowserTable<Line>
      id="portal-invoice-lines"
      title={t`Lines of the invoice`}
      embedded
      columns={useLineColumns(invoice.currency)}
      rows={useLines(invoice)}
      query={query}
      rowId={(line) => line.key}
      searchLabel={t`Name or service`}
      empty={t`This invoice has no lines.`}
      footer={(found) => (
        <SpaceBetween direction="horizontal" size="s">
          <Box fontWeight="bold">
            <Trans>Before tax</Trans>
          </Box>
          <Amount
            value={addDecimals(found.map((line) => line.amount))}
            currency={invoice.currency}
            strong
          />
        </SpaceBetween>
      )}
    />
  );
}

function Amounts({ invoice }: { invoice: Invoice }) {
  const { t } = useLingui();
  const { language } = useLanguage();
  const { currency, due_date: due } = invoice;
  return (
    <Container>
      <KeyValuePairs
        columns={4}
        items={[
          { label: t`Total`, value: <Amount value={invoice.total} currency={currency} strong /> },
          { label: t`Before tax`, value: <Amount value={invoice.pre_tax} currency={currency} /> },
          { label: t`Tax`, value: <Amount value={invoice.tax} currency={currency} /> },
          { label: t`Due date`, value: due === null ? "–" : formatDate(due, language) },
          {
            label: t`Invoice number`,
            value:
              invoice.revision === 1
                ? invoice.invoice_no
                : t`${invoice.invoice_no} (revision ${invoice.revision})`,
          },
          { label: t`State`, value: <InvoiceState state={invoice.state} /> },
          { label: t`Issued`, value: formatDate(invoice.issue_date, language) },
          { label: t`Issuer`, value: invoice.issuer?.company ?? "–" },
          ...(invoice.payment === null
            ? []
            : [
                {
                  label: t({ message: "Payment", context: "of an invoice" }),
                  value: <PaymentState invoice={invoice.payment} />,
                },
                {
                  label: t`Open balance`,
                  value: <Amount value={invoice.payment.open_balance} currency={currency} />,
                },
              ]),
        ]}
      />
    </Container>
  );
}

function Files({ path }: { path: InvoicePath }) {
  const flag = useFlag();
  const download = useDownload();
  const { language } = useLanguage();
  const save = (kind: "discount" | "merged") =>
    download.mutate({
      address: `/m/portal/invoices/{month}/{vendor}/csv/${kind}`,
      name: `${path.month}-${path.vendor}-${kind}.csv`,
      path,
      query: { language },
    });
  return (
    <SpaceBetween direction="horizontal" size="xs">
      {flag("invoice_download_csv_discount") && (
        <Button iconName="download" onClick={() => save("discount")}>
          <Trans>Lines with discount (CSV)</Trans>
        </Button>
      )}
      {flag("invoice_download_csv_merged") && (
        <Button iconName="download" onClick={() => save("merged")}>
          <Trans>All accounts together (CSV)</Trans>
        </Button>
      )}
    </SpaceBetween>
  );
}

interface PrintedProps {
  path: InvoicePath;
  number: string;
  revision: number;
}

function Printed({ path, number, revision }: PrintedProps) {
  const { t } = useLingui();
  const client = useClient();
  const printed = useQuery<Blob, ApiError>({
    queryKey: [PRINTED, path, number, revision],
    queryFn: async ({ signal }) => {
      const address = "/m/portal/invoices/{month}/{vendor}/pdf";
      return (await client.download("GET", address, { path, signal })).blob();
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
  return (
    <Container
      disableContentPaddings
      header={
        <Header
          variant="h2"
          actions={
            <Button
              iconName="download"
              disabled={printed.data === undefined}
              onClick={() => printed.data && saveFile(printed.data, `${number}.pdf`, PDF)}
            >
              <Trans>PDF</Trans>
            </Button>
          }
        >
          <Trans>As printed</Trans>
        </Header>
      }
    >
      <QueryState query={printed}>
        {(file) => <PdfViewer file={file} title={t`Invoice ${number} as printed`} />}
      </QueryState>
    </Container>
  );
}

/** All amounts that add up to the sum before tax, in the order of the printed invoice. */
function useLines(invoice: Invoice): Line[] {
  const { t } = useLingui();
  const fee = (name: string, amounts: Invoice["support"]) =>
    amounts === null ? [] : [{ name, service: "–", ...amounts }];
  const lines = [
    ...invoice.lines.map((line) => ({
      name: line.tag || `${line.customer_name} ${line.customer_id}`,
      service: line.marketplace ? t`${line.service} (Marketplace)` : line.service,
      charge: line.charge,
      amount: line.amount,
    })),
    ...fee(t`Support fee`, invoice.support),
    ...fee(t`Agency fee`, invoice.agency),
    ...invoice.entries.map((entry) => ({
      name: entry.description,
      service: `${entry.customer_name} ${entry.customer_id}`,
      charge: null,
      amount: entry.amount,
    })),
    ...invoice.items.map((item) => ({
      name: item.label,
      service: "–",
      charge: null,
      amount: item.total,
    })),
  ];
  return lines.map((line, index) => ({ ...line, key: String(index) }));
}

function useLineColumns(currency: string): Column<Line>[] {
  const { t } = useLingui();
  const name = (line: Line) => line.name;
  const service = (line: Line) => line.service;
  return [
    {
      id: "name",
      header: t`Account, tag or item`,
      sort: "name",
      width: 260,
      cell: name,
      csv: name,
    },
    {
      id: "service",
      header: t`Service`,
      sort: "service",
      width: 220,
      cell: service,
      csv: service,
    },
    {
      id: "charge",
      header: t`Before the discount`,
      sort: "charge",
      numeric: true,
      width: 160,
      cell: (line) => <Amount value={line.charge} currency={currency} />,
      csv: (line) => String(line.charge ?? ""),
    },
    {
      id: "amount",
      header: t`Amount`,
      sort: "amount",
      numeric: true,
      width: 160,
      cell: (line) => <Amount value={line.amount} currency={currency} />,
      csv: (line) => String(line.amount),
    },
  ];
}
