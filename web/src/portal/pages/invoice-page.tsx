// One invoice: as printed, with its lines and files.
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
import { useApi, useClient } from "../../api/queries.ts";
import type { components } from "../../api/schema.ts";
import { Amount } from "../../components/amount.tsx";
import { saveFile } from "../../components/csv.ts";
import { formatMonth } from "../../components/month.ts";
import { PageTitle } from "../../components/page-title.tsx";
import { PDF, PdfViewer } from "../../components/pdf-viewer.tsx";
import { QueryState } from "../../components/query-state.tsx";
import type { Column } from "../../components/server-table.tsx";
import { formatVendor } from "../../components/vendor.ts";
import { useLanguage } from "../../language/language.tsx";
import { BrowserTable } from "../browser-table.tsx";
import { useDownload } from "../download.ts";
import { useFlag } from "../me.ts";

type Invoice = components["schemas"]["CustomerInvoice"];
type Line = components["schemas"]["PrintedLine"];
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
            <Amounts invoice={data} />
            <Printed path={path} number={data.invoice_no} />
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
      rows={invoice.lines}
      query={query}
      rowId={(line) => JSON.stringify(line)}
      searchLabel={t`Name or service`}
      empty={t`This invoice has no usage lines.`}
    />
  );
}

function Amounts({ invoice }: { invoice: Invoice }) {
  const { t } = useLingui();
  const { currency } = invoice;
  return (
    <Container>
      <KeyValuePairs
        columns={4}
        items={[
          { label: t`Total`, value: <Amount value={invoice.total} currency={currency} strong /> },
          { label: t`Before tax`, value: <Amount value={invoice.pre_tax} currency={currency} /> },
          { label: t`Tax`, value: <Amount value={invoice.tax} currency={currency} /> },
          { label: t`Due date`, value: invoice.due_date ?? "–" },
          { label: t`Number`, value: invoice.invoice_no },
          { label: t`Issued`, value: invoice.issue_date },
          { label: t`Issuer`, value: invoice.issuer?.company ?? "–" },
        ]}
      />
    </Container>
  );
}

function Files({ path }: { path: InvoicePath }) {
  const flag = useFlag();
  const download = useDownload();
  const save = (kind: "discount" | "merged") =>
    download.mutate({
      address: `/m/portal/invoices/{month}/{vendor}/csv/${kind}`,
      name: `${path.month}-${path.vendor}-${kind}.csv`,
      path,
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

function Printed({ path, number }: { path: InvoicePath; number: string }) {
  const { t } = useLingui();
  const client = useClient();
  const printed = useQuery<Blob, ApiError>({
    queryKey: ["printed invoice", path, number],
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

function useLineColumns(currency: string): Column<Line>[] {
  const { t } = useLingui();
  const name = (line: Line) => line.tag || `${line.customer_name} ${line.customer_id}`;
  const service = (line: Line) =>
    line.marketplace ? t`${line.service} (Marketplace)` : line.service;
  return [
    { id: "name", header: t`Account or tag`, sort: "name", width: 240, cell: name, csv: name },
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
      csv: (line) => String(line.charge),
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
