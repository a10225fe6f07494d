// Where the invoice stands: created, sent, credited or cancelled, which ones it replaces, and the steps that are left.
import Button from "@cloudscape-design/components/button";
import Container from "@cloudscape-design/components/container";
import SpaceBetween from "@cloudscape-design/components/space-between";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import { Trans, useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { useSearchParams } from "react-router";
import { useApi } from "../../../api/queries.ts";
import type { components } from "../../../api/schema.ts";
import { Amount } from "../../../components/amount.tsx";
import { isZero } from "../../../components/amount-format.ts";
import { formatTime } from "../../../components/month.ts";
import { PaymentState } from "../../../components/payment-state.tsx";
import { QueryState } from "../../../components/query-state.tsx";
import { useLanguage } from "../../../language/language.tsx";
import { useMay, useTimeZone } from "../../me.ts";
import { CancelInvoiceDialog } from "./cancel-invoice-dialog.tsx";
import type { InvoiceDocument, InvoicePath } from "./invoice-page.tsx";
import { type InvoicePayments, useInvoicePayments } from "./payments.tsx";
import { isPublished, PublishInvoiceDialog } from "./publish-invoice-dialog.tsx";
import { SentInvoiceDialog } from "./sent-invoice-dialog.tsx";

export type InvoiceStatus = components["schemas"]["InvoiceStatus"];

interface InvoiceStateProps {
  path: InvoicePath;
  invoice: InvoiceDocument;
}

export function useInvoiceStatus(path: InvoicePath) {
  return useApi("/m/core/invoices/{month}/{company_id}/{vendor}/state", { path });
}

export function InvoiceState({ path, invoice }: InvoiceStateProps) {
  const { t } = useLingui();
  const status = useInvoiceStatus(path);
  const balance = useInvoicePayments(path).data;
  const mayChange = useMay()("ModifyInvoice");
  const [dialog, setDialog] = useState<"sent" | "cancelled" | "published">();
  const onEnd = () => setDialog(undefined);
  return (
    <Container>
      <QueryState query={status}>
        {(loaded) => (
          <SpaceBetween size="s">
            <StateText status={loaded} currency={invoice.currency} />
            {loaded.state === "sent" && balance !== undefined && <PaymentState invoice={balance} />}
            {loaded.replaced.map((replaced) => (
              <StatusIndicator key={replaced.invoice_no} type="info">
                {t`${replaced.replacement_no} replaces ${replaced.invoice_no}: ${replaced.reason}`}
              </StatusIndicator>
            ))}
            {mayChange && ["created", "approved"].includes(loaded.state) && (
              <Button onClick={() => setDialog("sent")}>
                <Trans>Mark as sent</Trans>
              </Button>
            )}
            {mayChange && loaded.state === "sent" && (
              <SpaceBetween direction="horizontal" size="xs">
                <Button onClick={() => setDialog("published")}>
                  <Trans>Change the publication</Trans>
                </Button>
                <CorrectButton />
                {mayBeCancelled(loaded, balance) && (
                  <Button onClick={() => setDialog("cancelled")}>
                    <Trans>Cancel the invoice</Trans>
                  </Button>
                )}
              </SpaceBetween>
            )}
            {dialog === "published" && (
              <PublishInvoiceDialog path={path} status={loaded} onEnd={onEnd} />
            )}
          </SpaceBetween>
        )}
      </QueryState>
      {dialog === "sent" && <SentInvoiceDialog path={path} invoice={invoice} onEnd={onEnd} />}
      {dialog === "cancelled" && (
        <CancelInvoiceDialog path={path} invoice={invoice} onEnd={onEnd} />
      )}
    </Container>
  );
}

/** Opens the tab with the preview of a correction. */
function CorrectButton() {
  const [, setParams] = useSearchParams();
  return (
    <Button onClick={() => setParams({ tab: "correction" }, { replace: true })}>
      <Trans>Preview a correction</Trans>
    </Button>
  );
}

function mayBeCancelled(status: InvoiceStatus, balance: InvoicePayments | undefined): boolean {
  const isPaid = balance !== undefined && !isZero(balance.paid);
  return status.state === "sent" && status.credit_notes.length === 0 && !isPaid;
}

function StateText({ status, currency }: { status: InvoiceStatus; currency: string }) {
  const { t } = useLingui();
  const { language } = useLanguage();
  const timeZone = useTimeZone();
  const at = (time: string | null) => (time === null ? "" : formatTime(time, language));
  if (status.state === "created")
    return (
      <StatusIndicator type="pending">
        <Trans>Not sent yet. It can be created again while the month is open.</Trans>
      </StatusIndicator>
    );
  if (status.state === "approved")
    return (
      <StatusIndicator type="in-progress">
        <Trans>
          Approved and not sent yet. An invoice that is created again loses the approval.
        </Trans>
      </StatusIndicator>
    );
  if (status.state === "cancelled")
    return (
      <StatusIndicator type="stopped">
        {t`Cancelled by ${status.cancelled_by ?? ""}, ${at(status.cancelled_time)}: ${status.cancel_reason ?? ""}`}
      </StatusIndicator>
    );
  return (
    <SpaceBetween size="xs">
      <StatusIndicator type="success">
        {t`Sent by ${status.sent_by ?? ""}, ${at(status.sent_time)}`}
      </StatusIndicator>
      {status.publish_time !== null && !isPublished(status) && (
        <StatusIndicator type="pending">
          {t`In the portal from ${formatTime(status.publish_time, language, timeZone)}`}
        </StatusIndicator>
      )}
      {!isZero(status.credited) && (
        <StatusIndicator type="info">
          <Trans>
            Credited: <Amount value={status.credited} currency={currency} /> with tax
          </Trans>
        </StatusIndicator>
      )}
    </SpaceBetween>
  );
}
