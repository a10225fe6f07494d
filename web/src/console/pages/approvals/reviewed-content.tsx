// What is reviewed: changed values before and after, invoices, and everything else by its name.
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import { Amount } from "../../../components/amount.tsx";
import { RouterLink } from "../../../components/router-link.tsx";
import { SmallTable } from "../../../components/small-table.tsx";
import { listCustomers } from "../audit/entry-values.ts";
import { useValueText } from "../audit/value-text.ts";
import type { Approval } from "./approval-texts.ts";
import { type ReviewedInvoice, readReview } from "./review.ts";

export function ReviewedContent({ approval }: { approval: Approval }) {
  const { t } = useLingui();
  const { values, changes, invoices } = readReview(approval.review);
  const customers = listCustomers([
    ...values.map((value) => ({ ...value, before: undefined })),
    ...changes.map(({ path, after, before }) => ({ path, text: after, before })),
  ]);
  const { fieldName, valueText } = useValueText([], customers);
  const text = (path: string[], value: string | string[]) =>
    value.length === 0 ? "–" : valueText(path, value);
  return (
    <Container
      header={
        <Header variant="h2" description={t`The approval is bound to exactly this.`}>
          <Trans>What is reviewed</Trans>
        </Header>
      }
    >
      <SpaceBetween size="l">
        {changes.length > 0 && (
          <SmallTable
            embedded
            label={t`Before and after`}
            header={<Header variant="h3">{t`Before and after`}</Header>}
            items={changes}
            trackBy={({ path }) => path.join("/")}
            columns={[
              {
                id: "field",
                header: t`Field`,
                cell: ({ path }) => fieldName(path),
                isRowHeader: true,
              },
              { id: "before", header: t`Before`, cell: (row) => text(row.path, row.before) },
              { id: "after", header: t`After`, cell: (row) => <b>{text(row.path, row.after)}</b> },
            ]}
          />
        )}
        {values.length > 0 && (
          <SmallTable
            embedded
            label={t`Values`}
            header={<Header variant="h3">{t`Values`}</Header>}
            items={values}
            trackBy={({ path }) => path.join("/")}
            columns={[
              {
                id: "field",
                header: t`Field`,
                cell: ({ path }) => fieldName(path),
                isRowHeader: true,
              },
              { id: "value", header: t`Value`, cell: (row) => text(row.path, row.text) },
            ]}
          />
        )}
        {invoices.length > 0 && <Invoices approval={approval} invoices={invoices} />}
      </SpaceBetween>
    </Container>
  );
}

function Invoices({
  approval,
  invoices,
}: {
  approval: Approval;
  invoices: readonly ReviewedInvoice[];
}) {
  const { t } = useLingui();
  const { fieldName } = useValueText(
    [],
    invoices.slice(0, 20).map(({ company_id }) => company_id),
  );
  const { month, vendor } = approval.review as { month: string; vendor: string };
  return (
    <SmallTable
      embedded
      compact
      label={t`Invoices`}
      header={<Header variant="h3">{t`Invoices`}</Header>}
      items={invoices}
      trackBy="invoice_no"
      columns={[
        {
          id: "number",
          header: t`Invoice number`,
          isRowHeader: true,
          cell: (row) => (
            <RouterLink to={`/invoices/${month}/${row.company_id}/${vendor}`}>
              {row.invoice_no}
            </RouterLink>
          ),
        },
        {
          id: "customer",
          header: t`Customer`,
          cell: (row) => row.billinggroup_name ?? fieldName([row.company_id]),
        },
        { id: "revision", header: t`Revision`, cell: (row) => String(row.revision) },
        {
          id: "total",
          header: t`Total`,
          numeric: true,
          cell: (row) => <Amount value={row.total} currency={row.currency} />,
        },
      ]}
    />
  );
}
