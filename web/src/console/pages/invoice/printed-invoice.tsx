// The invoice as printed, in the viewer of the browser.
import Button from "@cloudscape-design/components/button";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import { Trans, useLingui } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import type { ApiError } from "../../../api/client.ts";
import { PRINTED, useClient } from "../../../api/queries.ts";
import { saveFile } from "../../../components/csv.ts";
import { PDF, PdfViewer } from "../../../components/pdf-viewer.tsx";
import { QueryState } from "../../../components/query-state.tsx";
import type { InvoiceDocument, InvoicePath } from "./invoice-page.tsx";

interface PrintedInvoiceProps {
  path: InvoicePath;
  invoice: InvoiceDocument;
}

export function PrintedInvoice({ path, invoice }: PrintedInvoiceProps) {
  const { t } = useLingui();
  const client = useClient();
  const printed = useQuery<Blob, ApiError>({
    queryKey: [PRINTED, path, invoice.revision],
    queryFn: async ({ signal }) => {
      const address = "/m/core/invoices/{month}/{company_id}/{vendor}/pdf";
      const response = await client.download("GET", address, { path, signal });
      return response.blob();
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
              onClick={() => {
                if (printed.data !== undefined)
                  saveFile(printed.data, `${invoice.invoice_no}.pdf`, PDF);
              }}
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
        {(file) => <PdfViewer file={file} title={t`Invoice ${invoice.invoice_no} as printed`} />}
      </QueryState>
    </Container>
  );
}
