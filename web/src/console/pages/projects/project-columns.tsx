// The columns of the list of projects.
import ButtonDropdown from "@cloudscape-design/components/button-dropdown";
import { useLingui } from "@lingui/react/macro";
import { Amount } from "../../../components/amount.tsx";
import { formatCurrency, formatRate } from "../../../components/amount-format.ts";
import type { Column } from "../../../components/server-table.tsx";
import { useLanguage } from "../../../language/language.tsx";
import { readFigures } from "./project-figures.ts";
import type { ProjectProfit } from "./projects-page.tsx";

interface ProjectActions {
  mayChange: boolean;
  onEdit: (project: ProjectProfit) => void;
  onDelete: (project: ProjectProfit) => void;
}

export function useProjectColumns(
  vendor: string,
  actions: ProjectActions,
): Column<ProjectProfit>[] {
  const { t } = useLingui();
  const { language } = useLanguage();
  const amount = (
    id: "sales_exchanged" | "stock_exchanged" | "profit_exchanged",
    header: string,
  ): Column<ProjectProfit> => ({
    id,
    header,
    cell: (row) => (
      <Amount
        value={readFigures(row, vendor)?.[id]}
        currency={row.project_currency}
        strong={id === "profit_exchanged"}
      />
    ),
    csv: (row) => String(readFigures(row, vendor)?.[id] ?? ""),
    numeric: true,
    width: 150,
  });
  const rate = (row: ProjectProfit) => {
    const share = readFigures(row, vendor)?.profit_exchanged_rate;
    return share === null || share === undefined ? "" : formatRate(share, language);
  };
  const columns: Column<ProjectProfit>[] = [
    {
      id: "project_code",
      header: t`Code`,
      cell: (row) => row.project_code,
      csv: (row) => row.project_code,
      sort: "project_code",
      width: 120,
      alwaysVisible: true,
    },
    {
      id: "project_label",
      header: t`Name`,
      cell: (row) => row.project_label,
      csv: (row) => row.project_label,
      sort: "project_label",
      width: 190,
    },
    {
      id: "currency",
      header: t`Currency`,
      cell: (row) => formatCurrency(row.project_currency),
      csv: (row) => formatCurrency(row.project_currency),
      width: 110,
    },
    amount("sales_exchanged", t`Sales`),
    amount("stock_exchanged", t`Vendor's costs`),
    amount("profit_exchanged", t`Profit`),
    { id: "rate", header: t`Profit rate`, cell: rate, csv: rate, numeric: true, width: 110 },
  ];
  if (actions.mayChange)
    columns.push({
      id: "actions",
      header: t`Actions`,
      cell: (row) => (
        <ButtonDropdown
          variant="inline-icon"
          ariaLabel={t`Actions for ${row.project_code}`}
          expandToViewport
          items={[
            { id: "edit", text: t`Edit` },
            { id: "delete", text: t`Delete` },
          ]}
          onItemClick={({ detail }) =>
            detail.id === "edit" ? actions.onEdit(row) : actions.onDelete(row)
          }
        />
      ),
      csv: () => "",
      width: 90,
    });
  return columns;
}
