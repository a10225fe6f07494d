// The invoice as printed, in the viewer of the browser.
import Button from "@cloudscape-design/components/button";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import { Trans, useLingui } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { ApiError } from "../../../api/client.ts";
import { useClient } from "../../../api/queries.ts";
import { saveFile } from "../../../components/csv.ts";
import { QueryState } from "../../../components/query-state.tsx";
import type { InvoiceDocument, InvoicePath } from "./invoice-page.tsx";
import "./printed-invoice.css";

const PDF = "application/pdf";

interface PrintedInvoiceProps {
  path: InvoicePath;
  invoice: InvoiceDocument;
}

export function PrintedInvoice({ path, invoice }: PrintedInvoiceProps) {
  const client = useClient();
  const printed = useQuery<Blob, ApiError>({
    queryKey: ["printed invoice", path, invoice.revision],
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
        {(file) => <Viewer file={file} name={invoice.invoice_no} />}
      </QueryState>
    </Container>
  );
}

function Viewer({ file, name }: { file: Blob; name: string }) {
  const { t } = useLingui();
  const [address, setAddress] = useState<string>();
  useEffect(() => {
    const created = URL.createObjectURL(new Blob([file], { type: PDF }));
    setAddress(created);
    return () => URL.revokeObjectURL(created);
  }, [file]);
  return (
    <iframe
      className="printed-invoice"
      title={t`Invoice ${name} as printed`}
      src={address && `${address}#toolbar=0&navpanes=0&view=FitH`}
    />
  );
}
