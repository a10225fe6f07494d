// The columns of the list of reserved instances.
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import { Trans, useLingui } from "@lingui/react/macro";
import type { ReactNode } from "react";
import type { Decimal } from "../../../api/exact-json.ts";
import { formatNumber } from "../../../components/amount-format.ts";
import type { Column } from "../../../components/server-table.tsx";
import {
  formatDays,
  useOfferClasses,
  usePaymentOptions,
  useTerms,
} from "../../../components/vendor-words.ts";
import { useLanguage } from "../../../language/language.tsx";
import { AccountText } from "../../account-name.tsx";
import type { Reservation } from "./reservations-page.tsx";

function TwoLines({ first, second }: { first: ReactNode; second: ReactNode }) {
  return (
    <>
      {first}
      <Box variant="small" color="text-body-secondary" display="block">
        {second}
      </Box>
    </>
  );
}

function Price({ value, currency }: { value: Decimal; currency: Reservation["currency"] }) {
  const { language } = useLanguage();
  return (
    <span className="amount">
      {formatNumber(value, language)} {currency}
    </span>
  );
}

/** Without `open`, the rows have no actions. */
export function useReservationColumns(
  open?: (reservation: Reservation) => void,
): Column<Reservation>[] {
  const { t } = useLingui();
  const { language } = useLanguage();
  const offerClasses = useOfferClasses();
  const paymentOptions = usePaymentOptions();
  const terms = useTerms();
  const columns: Column<Reservation>[] = [
    {
      id: "instance",
      header: t`Instance type`,
      cell: (row) => (
        <TwoLines
          first={row.remove ? `↳ ${nameType(row)}` : <b>{nameType(row)}</b>}
          second={[row.zone || row.region, row.platform].filter(Boolean).join(" · ")}
        />
      ),
      csv: nameType,
      sort: "instance_type",
      width: 150,
      alwaysVisible: true,
    },
    {
      id: "owner",
      header: t`Bought by`,
      cell: (row) => (
        <AccountText name={row.customer_name} customerId={row.customer_id} companyId="" />
      ),
      csv: (row) => row.customer_id,
      sort: "customer_name",
      width: 160,
    },
    {
      id: "holder",
      header: t`Held by`,
      cell: (row) =>
        row.remove ? (
          <AccountText
            name={row.dest_customer_name ?? ""}
            customerId={row.dest_customer_id}
            companyId={row.dest_company_id ?? ""}
          />
        ) : (
          <Box color="text-body-secondary" tagOverride="span">
            {row.number === 0 ? <Trans>All moved</Trans> : <Trans>The buyer</Trans>}
          </Box>
        ),
      csv: (row) => (row.remove ? row.dest_customer_id : row.customer_id),
      width: 160,
    },
    {
      id: "number",
      header: t`Instances`,
      cell: (row) => formatNumber(row.number, language),
      csv: (row) => String(row.number),
      width: 120,
      numeric: true,
    },
    {
      id: "offer",
      header: t`Class, term and payment`,
      cell: (row) => (
        <TwoLines
          first={offerClasses[row.offer_class.toLowerCase()] ?? (row.offer_class || "–")}
          second={[terms(row.term_length), paymentOptions[row.payment_option] ?? row.payment_option]
            .filter(Boolean)
            .join(" · ")}
        />
      ),
      csv: (row) => [row.offer_class, row.term_length, row.payment_option].join(" ").trim(),
      width: 140,
    },
    {
      id: "fees",
      header: t`Fee per hour, upfront`,
      cell: (row) => (
        <TwoLines
          first={<Price value={row.unblended_rate} currency={row.currency} />}
          second={<Price value={row.upfront_value} currency={row.currency} />}
        />
      ),
      csv: (row) => `${row.unblended_rate} / ${row.upfront_value} ${row.currency ?? ""}`.trim(),
      width: 120,
      numeric: true,
    },
    {
      id: "end",
      header: t`Term of the contract`,
      cell: (row) => (
        <TwoLines
          first={formatDays(row.start, row.end, language)}
          second={
            isOver(row) ? (
              <StatusIndicator type="stopped">{t`Ended`}</StatusIndicator>
            ) : (
              <StatusIndicator type="success">{t`In force`}</StatusIndicator>
            )
          }
        />
      ),
      csv: (row) => `${row.start}/${row.end}`,
      sort: "end",
      width: 160,
    },
  ];
  if (open === undefined) return columns;
  return [
    ...columns,
    {
      id: "action",
      header: t`Action`,
      cell: (row) =>
        row.remove || !row.disabled ? (
          <Button
            variant="inline-link"
            wrapText={false}
            ariaLabel={
              row.remove
                ? t`Return ${nameType(row)} to ${row.customer_name || row.customer_id}`
                : t`Move ${nameType(row)} of ${row.customer_name || row.customer_id}`
            }
            onClick={() => open(row)}
          >
            {row.remove ? t`Return` : t`Move`}
          </Button>
        ) : null,
      csv: () => "",
      width: 95,
    },
  ];
}

/** Some files of the vendor have the type of usage alone. */
export function nameType(row: Reservation): string {
  return row.instance_type || row.usage_type;
}

function isOver(row: Reservation): boolean {
  return row.end !== "" && Date.parse(row.end) <= Date.now();
}
