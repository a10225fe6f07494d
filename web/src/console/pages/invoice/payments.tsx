// The payments of an invoice, what is left to pay, and the way to record one.
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import ColumnLayout from "@cloudscape-design/components/column-layout";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { useApi } from "../../../api/queries.ts";
import type { components } from "../../../api/schema.ts";
import { Amount } from "../../../components/amount.tsx";
import { formatCurrency, isZero } from "../../../components/amount-format.ts";
import { formatDate, formatTime } from "../../../components/month.ts";
import { PaymentState } from "../../../components/payment-state.tsx";
import { QueryState } from "../../../components/query-state.tsx";
import { SmallTable } from "../../../components/small-table.tsx";
import { useLanguage } from "../../../language/language.tsx";
import { useMay } from "../../me.ts";
import { Figure } from "./figure.tsx";
import type { InvoicePath } from "./invoice-page.tsx";
import { RecordPaymentDialog } from "./record-payment-dialog.tsx";
import { ReversePaymentDialog } from "./reverse-payment-dialog.tsx";

export type InvoicePayments = components["schemas"]["InvoicePayments"];
export type Payment = components["schemas"]["Payment"];

export function useInvoicePayments(path: InvoicePath) {
  return useApi("/m/core/invoices/{month}/{company_id}/{vendor}/payments", { path });
}

export function Payments({ path }: { path: InvoicePath }) {
  const payments = useInvoicePayments(path);
  return (
    <QueryState query={payments}>
      {(loaded) => (
        <SpaceBetween size="l">
          {loaded.invoice_state === "sent" && <BalanceFigures balance={loaded} />}
          <PaymentTable path={path} balance={loaded} />
        </SpaceBetween>
      )}
    </QueryState>
  );
}

function BalanceFigures({ balance }: { balance: InvoicePayments }) {
  const { t } = useLingui();
  const { language } = useLanguage();
  const currency = formatCurrency(balance.currency);
  return (
    <SpaceBetween size="s">
      <ColumnLayout columns={4} variant="text-grid" minColumnWidth={120}>
        <Figure label={t`Total`} value={balance.total} currency={currency} />
        {!isZero(balance.credited) && (
          <Figure label={t`Credited`} value={balance.credited} currency={currency} />
        )}
        <Figure label={t`Paid amount`} value={balance.paid} currency={currency} />
        <Figure label={t`Open balance`} value={balance.open_balance} currency={currency} strong />
      </ColumnLayout>
      <SpaceBetween direction="horizontal" size="s" alignItems="center">
        <PaymentState invoice={balance} />
        <Box color="text-body-secondary">
          {balance.due_date === null ? (
            <Trans>No due date</Trans>
          ) : (
            t`Due on ${formatDate(balance.due_date, language)}`
          )}
          {balance.overdue && (
            <>
              {" "}
              <Plural value={balance.days_overdue} one="(# day overdue)" other="(# days overdue)" />
            </>
          )}
        </Box>
      </SpaceBetween>
    </SpaceBetween>
  );
}

function PaymentTable({ path, balance }: { path: InvoicePath; balance: InvoicePayments }) {
  const { t } = useLingui();
  const mayChange = useMay()("ModifyInvoice") && balance.invoice_state === "sent";
  const [recording, setRecording] = useState(false);
  const [reversing, setReversing] = useState<Payment>();
  const columns = usePaymentColumns(mayChange ? setReversing : undefined);
  return (
    <>
      <SmallTable<Payment>
        embedded
        label={t`Payments`}
        items={balance.payments}
        trackBy="payment_id"
        columns={columns}
        header={
          <Header
            variant="h3"
            counter={`(${balance.payments.length})`}
            actions={
              mayChange && (
                <Button onClick={() => setRecording(true)}>
                  <Trans>Record a payment</Trans>
                </Button>
              )
            }
          >
            <Trans>Payments</Trans>
          </Header>
        }
        empty={
          balance.invoice_state === "created" ? (
            <Trans>Mark the invoice as sent before you record a payment.</Trans>
          ) : (
            <Trans>No payment was recorded.</Trans>
          )
        }
      />
      {recording && (
        <RecordPaymentDialog path={path} balance={balance} onEnd={() => setRecording(false)} />
      )}
      {reversing !== undefined && (
        <ReversePaymentDialog
          path={path}
          payment={reversing}
          onEnd={() => setReversing(undefined)}
        />
      )}
    </>
  );
}

function usePaymentColumns(onReverse: ((payment: Payment) => void) | undefined) {
  const { t } = useLingui();
  const { language } = useLanguage();
  return [
    {
      id: "paid_on",
      header: t`Date of payment`,
      isRowHeader: true,
      cell: (payment: Payment) => (
        <span className="no-wrap">{formatDate(payment.paid_on, language)}</span>
      ),
    },
    {
      id: "amount",
      header: t`Amount`,
      cell: (payment: Payment) => <Amount value={payment.amount} currency={payment.currency} />,
    },
    {
      id: "note",
      header: t`Note`,
      minWidth: 100,
      cell: (payment: Payment) => payment.note ?? "–",
    },
    {
      id: "recorded",
      header: t`Recorded by`,
      cell: (payment: Payment) => (
        <>
          {payment.created_by}
          <Box variant="small" display="block" color="text-body-secondary">
            {formatTime(payment.create_time, language)}
          </Box>
        </>
      ),
    },
    {
      id: "state",
      header: t`State`,
      minWidth: 100,
      cell: (payment: Payment) => <CountedState payment={payment} onReverse={onReverse} />,
    },
  ];
}

interface CountedStateProps {
  payment: Payment;
  onReverse: ((payment: Payment) => void) | undefined;
}

function CountedState({ payment, onReverse }: CountedStateProps) {
  const { t } = useLingui();
  const { language } = useLanguage();
  const { paid_on, reversed_by, reverse_reason } = payment;
  if (reversed_by !== null)
    return (
      <StatusIndicator type="stopped">
        {t`Reversed by ${reversed_by}: ${reverse_reason ?? ""}`}
      </StatusIndicator>
    );
  if (onReverse === undefined)
    return <StatusIndicator type="success">{t`Recorded`}</StatusIndicator>;
  return (
    <Button
      variant="inline-link"
      ariaLabel={t`Reverse the payment of ${formatDate(paid_on, language)}`}
      onClick={() => onReverse(payment)}
    >
      <Trans>Reverse</Trans>
    </Button>
  );
}
