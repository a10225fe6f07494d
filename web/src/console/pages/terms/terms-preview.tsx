// What a month's invoice would be under the terms in the form, beside the terms of that month.
import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Container from "@cloudscape-design/components/container";
import ExpandableSection from "@cloudscape-design/components/expandable-section";
import Header from "@cloudscape-design/components/header";
import Select from "@cloudscape-design/components/select";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { ApiError } from "../../../api/client.ts";
import { useApi, useClient } from "../../../api/queries.ts";
import type { components } from "../../../api/schema.ts";
import { isNegative } from "../../../components/amount-format.ts";
import { currentMonth, formatMonth, shiftMonth } from "../../../components/month.ts";
import { QueryState } from "../../../components/query-state.tsx";
import { useLanguage } from "../../../language/language.tsx";
import { useMay } from "../../me.ts";
import { PreviewLines, PreviewTotals } from "./preview-tables.tsx";
import { findInvalidFields, type TermsForm, writeTerms } from "./terms-model.ts";

export type TermsPreviewData = components["schemas"]["TermsPreview"];

interface TermsPreviewProps {
  company: string;
  vendor: string;
  form: TermsForm;
}

export function TermsPreview({ company, vendor, form }: TermsPreviewProps) {
  const { t } = useLingui();
  const { language } = useLanguage();
  const { months, ready } = usePreviewMonths(company, vendor);
  const [chosen, setChosen] = useState<string>();
  const month = chosen ?? months.find((each) => each.closed)?.month ?? months[0]?.month;
  const options = months.map((each) => ({
    value: each.month,
    label: formatMonth(each.month, language),
    ...(each.closed && { description: t`closed` }),
  }));
  return (
    <Container
      header={
        <Header
          variant="h2"
          description={t`Nothing is saved. The month is calculated anew with your answers.`}
          actions={
            ready && (
              <Select
                ariaLabel={t`Month of the preview`}
                options={options}
                selectedOption={options.find((option) => option.value === month) ?? null}
                onChange={({ detail }) => setChosen(detail.selectedOption.value)}
              />
            )
          }
        >
          <Trans>Preview</Trans>
        </Header>
      }
    >
      {ready && month !== undefined && (
        <Calculated company={company} vendor={vendor} form={form} month={month} />
      )}
    </Container>
  );
}

/** The months with an invoice, the newest first; last month where there is none or it may not be read. */
function usePreviewMonths(company: string, vendor: string) {
  const may = useMay();
  const history = useApi(
    "/m/core/billinggroup/{company_id}/history",
    { path: { company_id: company }, query: { months: 12 } },
    { enabled: may("ReadInvoice", "ModifyInvoice"), retry: false },
  );
  const last = { month: shiftMonth(currentMonth(), -1), closed: false };
  const invoiced = (history.data?.months ?? [])
    .filter((each) => each.vendor === vendor)
    .map((each) => ({ month: each.month, closed: each.state === "closed" }))
    .sort((a, b) => b.month.localeCompare(a.month));
  return { months: invoiced.length > 0 ? invoiced : [last], ready: !history.isLoading };
}

function Calculated({ company, vendor, form, month }: TermsPreviewProps & { month: string }) {
  const preview = usePreview(company, vendor, month, form);
  if (findInvalidFields(form).length > 0)
    return (
      <Alert type="info">
        <Trans>Correct the marked fields to see the effect.</Trans>
      </Alert>
    );
  if (preview.error !== null) return <NoPreview error={preview.error} />;
  return (
    <QueryState query={preview}>
      {(data) => (
        <div aria-live="polite" aria-busy={preview.isFetching}>
          <SpaceBetween size="m">
            {isNegative(data.margin) && (
              <Alert type="warning">
                <Trans>With these terms the customer pays less than the vendor charged.</Trans>
              </Alert>
            )}
            <PreviewTotals preview={data} />
            <ExpandableSection headerText={<Trans>Lines of the invoice</Trans>} variant="footer">
              <PreviewLines preview={data} />
            </ExpandableSection>
          </SpaceBetween>
        </div>
      )}
    </QueryState>
  );
}

function NoPreview({ error }: { error: ApiError }) {
  const { t } = useLingui();
  return (
    <Alert type="warning" header={t`This month cannot be calculated.`}>
      <Box>{error.message}</Box>
      <Trans>Choose another month, or correct the answer that is refused.</Trans>
    </Alert>
  );
}

/** Waits until the person has stopped typing. */
function usePreview(company: string, vendor: string, month: string, form: TermsForm) {
  const client = useClient();
  const valid = findInvalidFields(form).length === 0;
  const body = valid ? JSON.stringify({ vendor, ...writeTerms(form) }) : "";
  const [settled, setSettled] = useState(body);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(body), 400);
    return () => clearTimeout(timer);
  }, [body]);
  return useQuery<TermsPreviewData, ApiError>({
    queryKey: ["/m/core/billinggroup/{company_id}/preview/{month}", company, month, settled],
    queryFn: ({ signal }) =>
      client.post("/m/core/billinggroup/{company_id}/preview/{month}", {
        path: { company_id: company, month },
        body: new Blob([settled], { type: "application/json" }),
        signal,
      }),
    enabled: settled !== "",
    placeholderData: keepPreviousData,
    retry: false,
  });
}
