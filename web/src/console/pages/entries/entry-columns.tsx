// The columns of the list of one-off entries.
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import { Trans, useLingui } from "@lingui/react/macro";
import { Amount } from "../../../components/amount.tsx";
import { formatNumber, isZero } from "../../../components/amount-format.ts";
import { formatMonth } from "../../../components/month.ts";
import { RouterLink } from "../../../components/router-link.tsx";
import type { Column } from "../../../components/server-table.tsx";
import { useLanguage } from "../../../language/language.tsx";
import { useCalcTypes } from "./calc-types.ts";
import type { Entry } from "./entries-page.tsx";
import { formatPeriod } from "./period.ts";

type Open = (action: "apply" | "undo", entries: Entry[]) => void;

/** Without `open`, the rows have no actions. */
export function useEntryColumns(month: string, vendor: string, open?: Open): Column<Entry>[] {
  const { t } = useLingui();
  const { language } = useLanguage();
  const calcTypes = useCalcTypes();
  const describeTerms = ({ exchange_rate, tax_free }: Entry) => {
    const texts: string[] = [];
    if (exchange_rate !== null && !isZero(exchange_rate))
      texts.push(t`Rate ${formatNumber(exchange_rate, language)}`);
    if (tax_free) texts.push(t`Without tax`);
    return texts;
  };
  const columns: Column<Entry>[] = [
    {
      id: "state",
      header: t`State`,
      cell: (row) =>
        row.apply ? (
          <>
            <StatusIndicator type="success">{t`Applied`}</StatusIndicator>
            <Box variant="small" color="text-body-secondary" display="block">
              {formatMonth(row.applied_month ?? month, language)}
            </Box>
            {describeTerms(row).map((text) => (
              <Box key={text} variant="small" color="text-body-secondary" display="block">
                {text}
              </Box>
            ))}
          </>
        ) : (
          <StatusIndicator type="pending">{t`Undecided`}</StatusIndicator>
        ),
      csv: (row) => row.applied_month ?? "",
      width: 148,
      alwaysVisible: true,
    },
    {
      id: "calc_type",
      header: t`Kind`,
      cell: (row) => calcTypes[row.calc_type] ?? row.calc_type,
      csv: (row) => calcTypes[row.calc_type] ?? row.calc_type,
      sort: "calc_type",
      width: 115,
    },
    {
      id: "account",
      header: t`Customer and account`,
      cell: (row) => (
        <>
          {row.company_id === "" ? (
            <RouterLink
              to={`/accounts?unassigned=true&vendor=${vendor}&month=${month}&search=${row.customer_id}`}
            >
              <Trans>None: assign the account</Trans>
            </RouterLink>
          ) : (
            <RouterLink to={`/customers/${row.company_id}`}>{row.billinggroup_name}</RouterLink>
          )}
          <Box variant="small" color="text-body-secondary" display="block">
            {row.customer_id}
          </Box>
        </>
      ),
      csv: (row) => [row.billinggroup_name, row.customer_id].filter(Boolean).join(" "),
      sort: "billinggroup_name",
      width: 185,
    },
    {
      id: "description",
      header: t`Text of the vendor`,
      cell: (row) => (
        <>
          {row.description}
          {row.product_name !== "" && (
            <Box variant="small" color="text-body-secondary" display="block">
              {row.product_name}
            </Box>
          )}
        </>
      ),
      csv: (row) => row.description,
      width: 237,
    },
    {
      id: "amount",
      header: t`Amount`,
      cell: (row) => <Amount value={row.unblended_cost} currency={row.currency_code} />,
      csv: (row) => row.unblended_cost,
      sort: "unblended_cost",
      width: 125,
      numeric: true,
    },
    {
      id: "period",
      header: t`Period`,
      cell: (row) => formatPeriod(row.time_interval, language),
      csv: (row) => row.time_interval,
      sort: "usage_start",
      width: 135,
    },
  ];
  if (open === undefined) return columns;
  return [
    ...columns,
    {
      id: "action",
      header: t`Action`,
      cell: (row) => (
        <Button
          variant="inline-link"
          wrapText={false}
          disabled={!row.apply && row.company_id === ""}
          ariaLabel={row.apply ? t`Undo: ${row.description}` : t`Apply: ${row.description}`}
          onClick={() => open(row.apply ? "undo" : "apply", [row])}
        >
          {row.apply ? t`Undo` : t`Apply`}
        </Button>
      ),
      csv: () => "",
      width: 100,
    },
  ];
}
