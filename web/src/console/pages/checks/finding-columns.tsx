// The columns of the list of findings.
import Box from "@cloudscape-design/components/box";
import StatusIndicator, {
  type StatusIndicatorProps,
} from "@cloudscape-design/components/status-indicator";
import { useLingui } from "@lingui/react/macro";
import type { Decimal } from "../../../api/exact-json.ts";
import { Amount } from "../../../components/amount.tsx";
import { formatRate, plusSign } from "../../../components/amount-format.ts";
import { RouterLink } from "../../../components/router-link.tsx";
import type { Column } from "../../../components/server-table.tsx";
import { useLanguage } from "../../../language/language.tsx";
import {
  type Finding,
  type FindingCode,
  findCausePage,
  useCauseNames,
  useFindingNames,
} from "./finding-texts.ts";

const INDICATORS: Record<FindingCode, StatusIndicatorProps.Type> = {
  change_above_limit: "warning",
  margin_below_limit: "error",
  zero: "warning",
  negative: "error",
  new_customer: "info",
  vanished_customer: "error",
  missing_data: "warning",
};

export function useFindingColumns(): Column<Finding>[] {
  const { t } = useLingui();
  const { language } = useLanguage();
  const names = useFindingNames();
  const causes = useCauseNames();
  const rate = (share: Decimal | null) => (share === null ? "" : formatRate(share, language));
  const change = ({ change: share }: Finding) =>
    share === null ? "" : `${plusSign(share)}${formatRate(share, language)}`;
  const amount = (id: "amount" | "amount_before" | "margin", header: string): Column<Finding> => ({
    id,
    header,
    cell: (row) =>
      row.currency === null ? "" : <Amount value={row[id]} currency={row.currency} />,
    csv: (row) => String(row[id] ?? ""),
    numeric: true,
    width: 130,
  });
  return [
    {
      id: "code",
      header: t`Finding`,
      cell: (row) => (
        <StatusIndicator type={INDICATORS[row.code]}>{names[row.code]}</StatusIndicator>
      ),
      csv: (row) => names[row.code],
      width: 140,
      alwaysVisible: true,
    },
    {
      id: "customer",
      header: t`Customer`,
      cell: (row) => (
        <div>
          <RouterLink to={findCausePage(row)}>{row.billinggroup_name}</RouterLink>
          {row.customer_id !== null && (
            <Box variant="small" display="block" color="text-body-secondary">
              {row.customer_name ?? row.customer_id}
            </Box>
          )}
        </div>
      ),
      csv: (row) => [row.billinggroup_name, row.customer_id].filter(Boolean).join(" "),
      width: 130,
      alwaysVisible: true,
    },
    {
      id: "cause",
      header: t`Cause`,
      cell: (row) => causes[row.cause],
      csv: (row) => causes[row.cause],
      width: 200,
    },
    amount("amount_before", t`Last month`),
    amount("amount", t`This month`),
    {
      id: "change",
      header: t`Change`,
      cell: change,
      csv: change,
      numeric: true,
      width: 100,
    },
    amount("margin", t`Margin`),
    {
      id: "margin_rate",
      header: t`Margin rate`,
      cell: (row) => rate(row.margin_rate),
      csv: (row) => rate(row.margin_rate),
      numeric: true,
      width: 125,
    },
  ];
}
