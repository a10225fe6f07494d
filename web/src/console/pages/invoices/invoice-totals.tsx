// The totals under the list of invoices, one row for each currency.

import Box from "@cloudscape-design/components/box";
import { Trans, useLingui } from "@lingui/react/macro";
import type { components } from "../../../api/schema.ts";
import { Amount } from "../../../components/amount.tsx";
import { formatCurrency } from "../../../components/amount-format.ts";
import "./invoice-totals.css";

type CurrencyTotal = components["schemas"]["CurrencyTotal"];

export function InvoiceTotals({ totals }: { totals: readonly CurrencyTotal[] }) {
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
            <Trans>Before tax</Trans>
          </th>
          <th scope="col" className="wide-only">
            <Trans>Tax</Trans>
          </th>
          <th scope="col">
            <Trans>Total</Trans>
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
                <Amount value={row.pre_tax} currency={currency} />
              </td>
              <td className="wide-only">
                <Amount value={row.tax} currency={currency} />
              </td>
              <td>
                <Amount value={row.total} currency={currency} strong />
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
