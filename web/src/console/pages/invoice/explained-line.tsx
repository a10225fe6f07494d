// The rule, base, calculation and sources of one amount, and the parts of its base.
import Box from "@cloudscape-design/components/box";
import ExpandableSection from "@cloudscape-design/components/expandable-section";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Table from "@cloudscape-design/components/table";
import { Trans, useLingui } from "@lingui/react/macro";
import { Amount } from "../../../components/amount.tsx";
import { formatExact, formatNumber, formatPercent } from "../../../components/amount-format.ts";
import { useLanguage } from "../../../language/language.tsx";
import { useAmountNames, useRuleTexts, useWorking } from "./amount-names.ts";
import type { ExplainedAmount } from "./days-chart.tsx";

export function ExplainedLine({ amount, currency }: { amount: ExplainedAmount; currency: string }) {
  const { t } = useLingui();
  const { language } = useLanguage();
  const ruleText = useRuleTexts();
  const working = useWorking();
  const items = [
    { label: t`Rule`, value: ruleText(amount.rule, amount.rule_text) },
    {
      label: t`Amount`,
      value: <Amount value={amount.amount} currency={currency} strong />,
    },
  ];
  if (amount.base !== null)
    items.push({
      label: t`Base`,
      value: formatExact(amount.base, amount.base_currency),
    });
  if (amount.discount_rate !== null)
    items.push({ label: t`Discount`, value: formatPercent(amount.discount_rate, language, 4) });
  if (amount.exchange_rate !== null)
    items.push({ label: t`Exchange rate`, value: formatNumber(amount.exchange_rate, language) });
  return (
    <SpaceBetween size="m">
      <KeyValuePairs columns={2} items={items} />
      {amount.working !== "" && (
        <div>
          <Box variant="awsui-key-label">
            <Trans>Calculation</Trans>
          </Box>
          <Box variant="code">{working(amount.working)}</Box>
        </div>
      )}
      <Sources amount={amount} />
      <Parts amount={amount} />
    </SpaceBetween>
  );
}

function Sources({ amount }: { amount: ExplainedAmount }) {
  const { t } = useLingui();
  if (amount.sources.length === 0) return null;
  return (
    <ExpandableSection headerText={t`Sources`} headerCounter={`(${amount.sources.length})`}>
      <ul>
        {amount.sources.map((source) => (
          <li key={source}>{source}</li>
        ))}
      </ul>
    </ExpandableSection>
  );
}

function Parts({ amount }: { amount: ExplainedAmount }) {
  const { t } = useLingui();
  const { nameOf, ownerOf } = useAmountNames();
  const parts = amount.parts ?? [];
  if (parts.length === 0) return null;
  return (
    <ExpandableSection
      headerText={amount.by_day ? t`Days that make up the base` : t`Parts that make up the base`}
      headerCounter={`(${parts.length})`}
    >
      <Table
        variant="embedded"
        items={[...parts]}
        wrapLines
        columnDefinitions={[
          {
            id: "day",
            header: amount.by_day ? t`Day` : t`Part`,
            cell: (part) => part.day ?? nameOf(part),
            isRowHeader: true,
          },
          { id: "owner", header: t`Account`, cell: (part) => ownerOf(part) },
          {
            id: "amount",
            header: <span className="amount-cell">{t`Amount`}</span>,
            ariaLabel: () => t`Amount`,
            cell: (part) => (
              <span className="amount-cell">{formatExact(part.amount, part.currency)}</span>
            ),
          },
        ]}
      />
    </ExpandableSection>
  );
}
