// The preview of a correction of a sent invoice, and what can be made of it.
import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Checkbox from "@cloudscape-design/components/checkbox";
import ColumnLayout from "@cloudscape-design/components/column-layout";
import FormField from "@cloudscape-design/components/form-field";
import Select from "@cloudscape-design/components/select";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import { type ReactNode, useState } from "react";
import { isNegative, isZero } from "../../../components/amount-format.ts";
import { useErrorText } from "../../../components/error-text.ts";
import { formatTime } from "../../../components/month.ts";
import { QueryState } from "../../../components/query-state.tsx";
import { useLanguage } from "../../../language/language.tsx";
import { useMay } from "../../me.ts";
import { CorrectionDialog, type CorrectionKind } from "./correction-dialog.tsx";
import {
  type Correction,
  type CorrectionSource,
  useCorrection,
  useCorrectionSources,
} from "./correction-sources.ts";
import { ChangedTerms, CorrectedLines, TaxRates } from "./correction-tables.tsx";
import { Figure } from "./figure.tsx";
import type { InvoiceDocument, InvoicePath } from "./invoice-page.tsx";
import { useInvoiceStatus } from "./invoice-state.tsx";

interface CorrectionPanelProps {
  path: InvoicePath;
  invoice: InvoiceDocument;
}

export function CorrectionPanel({ path, invoice }: CorrectionPanelProps) {
  const status = useInvoiceStatus(path);
  const mayCorrect = useMay()("ModifyInvoice");
  return (
    <QueryState query={status}>
      {({ state }) => {
        if (state === "created" || state === "approved")
          return (
            <Hint>
              <Trans>The invoice was not sent yet: create it again to correct it.</Trans>
            </Hint>
          );
        if (state !== "sent")
          return (
            <Hint>
              <Trans>Nothing of this invoice is owed, so there is nothing to correct.</Trans>
            </Hint>
          );
        if (!mayCorrect)
          return (
            <Hint>
              <Trans>You are not allowed to correct invoices.</Trans>
            </Hint>
          );
        return <Sources path={path} invoice={invoice} />;
      }}
    </QueryState>
  );
}

function Hint({ children }: { children: ReactNode }) {
  return (
    <Box padding={{ vertical: "l" }} textAlign="center" color="text-body-secondary">
      {children}
    </Box>
  );
}

function Sources({ path, invoice }: CorrectionPanelProps) {
  const { t } = useLingui();
  const { language } = useLanguage();
  const sources = useCorrectionSources(path);
  const [chosen, setChosen] = useState<string>();
  const [oneOffLines, setOneOffLines] = useState(false);
  if (sources === undefined) return null;
  const source = sources.find(({ id }) => id === chosen) ?? sources[0];
  if (source === undefined)
    return (
      <Hint>
        <Trans>There are no late costs, and the customer has no terms for this vendor.</Trans>
      </Hint>
    );
  const options = sources.map((each) => ({ value: each.id, ...describe(each) }));
  function describe(each: CorrectionSource) {
    if ("importId" in each)
      return {
        label: t`Late costs, imported on ${formatTime(each.time, language)}`,
        description: t`The costs that arrived after the month was closed`,
      };
    if (each.id === "month")
      return {
        label: t`Settings and costs of the month as they are now`,
        description: t`As if the invoice were created again; it can be replaced`,
      };
    return {
      label: t`Terms of the customer as they are now`,
      description: t`With the costs and the exchange rate of the invoice`,
    };
  }
  return (
    <SpaceBetween size="l">
      <SpaceBetween size="s">
        <FormField
          label={t`Recalculate the invoice with`}
          description={t`This is a preview; nothing is stored.`}
        >
          <Select
            options={options}
            selectedOption={options.find(({ value }) => value === source.id) ?? null}
            onChange={({ detail }) => setChosen(detail.selectedOption.value)}
          />
        </FormField>
        {"importId" in source && source.hasOneOffLines && (
          <Checkbox checked={oneOffLines} onChange={({ detail }) => setOneOffLines(detail.checked)}>
            <Trans>Bill one-off lines too</Trans>
          </Checkbox>
        )}
      </SpaceBetween>
      <Preview path={path} invoice={invoice} source={source} oneOffLines={oneOffLines} />
    </SpaceBetween>
  );
}

interface PreviewProps extends CorrectionPanelProps {
  source: CorrectionSource;
  oneOffLines: boolean;
}

function Preview(props: PreviewProps) {
  const { t } = useLingui();
  const errorText = useErrorText();
  const { path, invoice, source, oneOffLines } = props;
  const preview = useCorrection(path, invoice, source, oneOffLines);
  const { currency } = invoice;
  if (preview.error !== null)
    return (
      <Alert type="warning" header={t`This correction cannot be calculated.`}>
        {errorText(preview.error)}
      </Alert>
    );
  return (
    <QueryState query={preview}>
      {(found) => (
        <SpaceBetween size="l">
          <ColumnLayout columns={4} variant="text-grid" minColumnWidth={120}>
            <Figure label={t`Invoice with tax`} value={found.invoiced} currency={currency} />
            {!isZero(found.credited) && (
              <Figure label={t`Credited`} value={found.credited} currency={currency} />
            )}
            <Figure
              label={t`Corrected invoice with tax`}
              value={found.corrected}
              currency={currency}
            />
            <Figure
              label={t`Difference to what is left`}
              value={found.difference}
              currency={currency}
              strong
              signed
            />
          </ColumnLayout>
          {isZero(found.difference) ? (
            <Alert type="success">
              <Trans>The invoice would be the same. There is nothing to correct.</Trans>
            </Alert>
          ) : (
            <SpaceBetween size="l">
              <Steps {...props} correction={found} />
              <TaxRates invoice={invoice} correction={found} />
              {found.changedTerms.length > 0 && <ChangedTerms correction={found} />}
              <CorrectedLines invoice={invoice} correction={found} />
            </SpaceBetween>
          )}
        </SpaceBetween>
      )}
    </QueryState>
  );
}

/** The ways to correct the invoice, and why some of them are not possible. */
function Steps(props: PreviewProps & { correction: Correction }) {
  const [kind, setKind] = useState<CorrectionKind>();
  const { source, correction } = props;
  const isImport = "importId" in source;
  const isMonth = source.id === "month";
  return (
    <SpaceBetween size="s">
      <SpaceBetween direction="horizontal" size="xs">
        {!isMonth && (
          <Button disabled={!correction.canCredit} onClick={() => setKind("credit_note")}>
            <Trans>Issue a correcting credit note</Trans>
          </Button>
        )}
        {isImport && (
          <Button onClick={() => setKind("entry")}>
            <Trans>Net on a later invoice</Trans>
          </Button>
        )}
        {(isImport || isMonth) && (
          <Button onClick={() => setKind("replacement")}>
            <Trans>Replace the invoice</Trans>
          </Button>
        )}
      </SpaceBetween>
      {!isMonth && !correction.canCredit && <WhyNoCredit {...props} />}
      {kind !== undefined && (
        <CorrectionDialog {...props} kind={kind} onEnd={() => setKind(undefined)} />
      )}
    </SpaceBetween>
  );
}

function WhyNoCredit({ source, correction }: PreviewProps & { correction: Correction }) {
  return (
    <Box color="text-body-secondary">
      {!isZero(correction.netted) ? (
        <Trans>
          An entry of a later month corrects this invoice already, so no credit note can be exact.
        </Trans>
      ) : isNegative(correction.difference) ? (
        <Trans>
          For one of the tax rates the corrected amount is higher, which a credit note cannot
          return.
        </Trans>
      ) : (
        <Trans>The corrected invoice is higher, which a credit note cannot charge.</Trans>
      )}{" "}
      {source.id === "terms" && (
        <Trans>Use the terms for the month while it is open, and replace the invoice.</Trans>
      )}
    </Box>
  );
}
