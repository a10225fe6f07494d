// The totals under the list of receivables, one row for each currency.
import Box from "@cloudscape-design/components/box";
import { Trans, useLingui } from "@lingui/react/macro";
import type { components } from "../../../api/schema.ts";
import { Amount } from "../../../components/amount.tsx";
import { formatCurrency } from "../../../components/amount-format.ts";
import "../invoices/invoice-totals.css";

type ReceivableTotal = components["schemas"]["ReceivableTotal"];

export function ReceivableTotals({ totals }: { totals: readonly ReceivableTotal[] }) {
  const { t } = useLingui();
  if (totals.length === 0) return null;
  return (
    <table className="invoice-totals" aria-label={t`Totals`}>
      <thead>
        <tr>
          <th scope="col">
            <Trans>Totals</Trans>
          </th>
          <th scope="col">
            <Trans>Invoices</Trans>
          </th>
          <th scope="col" className="wide-only">
            <Trans>Total</Trans>
          </th>
          <th scope="col" className="wide-only">
            <Trans>Paid amount</Trans>
          </th>
          <th scope="col">
            <Trans>Open balance</Trans>
          </th>
          <th scope="col">
            <Trans>Overdue</Trans>
          </th>
        </tr>
      </thead>
      <tbody>
        {totals.map((row) => {
          const currency = formatCurrency(row.currency);
          return (
            <tr key={currency}>
              <th scope="row">
                <Box fontWeight="bold">{currency}</Box>
              </th>
              <td>{row.invoices}</td>
              <td className="wide-only">
                <Amount value={row.total} currency={currency} />
              </td>
              <td className="wide-only">
                <Amount value={row.paid} currency={currency} />
              </td>
              <td>
                <Amount value={row.open_balance} currency={currency} strong />
              </td>
              <td>
                <Amount value={row.overdue} currency={currency} />
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
