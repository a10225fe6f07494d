// The credit notes of an invoice, and the way to issue one.
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Header from "@cloudscape-design/components/header";
import { Trans, useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { useApi } from "../../../api/queries.ts";
import type { components } from "../../../api/schema.ts";
import { Amount } from "../../../components/amount.tsx";
import { formatDate } from "../../../components/month.ts";
import { PdfButton } from "../../../components/pdf-button.tsx";
import { QueryState } from "../../../components/query-state.tsx";
import { SmallTable } from "../../../components/small-table.tsx";
import { useLanguage } from "../../../language/language.tsx";
import { useMay } from "../../me.ts";
import { CreditNoteDialog } from "./credit-note-dialog.tsx";
import type { InvoiceDocument, InvoicePath } from "./invoice-page.tsx";
import { useInvoiceStatus } from "./invoice-state.tsx";

type CreditNote = components["schemas"]["ShortCreditNote"];

interface CreditNotesProps {
  path: InvoicePath;
  invoice: InvoiceDocument;
}

export function CreditNotes({ path, invoice }: CreditNotesProps) {
  const { t } = useLingui();
  const notes = useApi("/m/core/invoices/{month}/{company_id}/{vendor}/credit-notes", { path });
  const state = useInvoiceStatus(path).data?.state;
  const mayIssue = useMay()("ModifyInvoice") && state === "sent";
  const [issuing, setIssuing] = useState(false);
  const columns = useColumns();
  return (
    <QueryState query={notes}>
      {(loaded) => (
        <>
          <SmallTable<CreditNote>
            embedded
            label={t`Credit notes`}
            items={loaded}
            trackBy="credit_note_id"
            columns={columns}
            header={
              <Header
                variant="h3"
                counter={`(${loaded.length})`}
                actions={
                  mayIssue && (
                    <Button onClick={() => setIssuing(true)}>
                      <Trans>Issue a credit note</Trans>
                    </Button>
                  )
                }
              >
                <Trans>Credit notes</Trans>
              </Header>
            }
            empty={
              state === "created" || state === "approved" ? (
                <Trans>The invoice was not sent yet: create it again to correct it.</Trans>
              ) : (
                <Trans>No credit note corrects this invoice.</Trans>
              )
            }
          />
          {issuing && (
            <CreditNoteDialog path={path} invoice={invoice} onEnd={() => setIssuing(false)} />
          )}
        </>
      )}
    </QueryState>
  );
}

function useColumns() {
  const { t } = useLingui();
  const { language } = useLanguage();
  return [
    {
      id: "number",
      header: t`Number`,
      isRowHeader: true,
      cell: (note: CreditNote) => (
        <div className="no-wrap">
          {note.credit_note_no}
          <Box variant="small" display="block" color="text-body-secondary">
            {formatDate(note.issue_date, language)}
          </Box>
        </div>
      ),
    },
    { id: "reason", header: t`Reason`, cell: (note: CreditNote) => note.reason },
    {
      id: "total",
      header: t`Total`,
      cell: (note: CreditNote) => <Amount value={note.total} currency={note.currency} />,
    },
    {
      id: "pdf",
      header: t`PDF`,
      cell: (note: CreditNote) => (
        <PdfButton
          address="/m/core/credit-notes/{credit_note_id}/pdf"
          path={{ credit_note_id: note.credit_note_id }}
          name={note.credit_note_no}
          label={t`Save ${note.credit_note_no} as PDF`}
        />
      ),
    },
  ];
}
