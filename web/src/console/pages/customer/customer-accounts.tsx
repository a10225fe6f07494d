// The accounts whose costs the customer pays.
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Table from "@cloudscape-design/components/table";
import { Trans, useLingui } from "@lingui/react/macro";
import { useNavigate } from "react-router";
import { CsvButton } from "../../../components/csv-button.tsx";
import { RouterLink } from "../../../components/router-link.tsx";
import { formatVendor } from "../../../components/vendor.ts";
import { useMay } from "../../me.ts";
import type { BillingGroup } from "./customer-page.tsx";

export function CustomerAccounts({ group }: { group: BillingGroup }) {
  const { t } = useLingui();
  const may = useMay();
  const navigate = useNavigate();
  const assign = may("ModifyAccount") && (
    <Button onClick={() => navigate("/accounts?unassigned=true")}>
      <Trans>Assign accounts</Trans>
    </Button>
  );
  return (
    <Table
      variant="container"
      items={group.account}
      trackBy="customer_id"
      wrapLines
      ariaLabels={{ tableLabel: t`Accounts` }}
      header={
        <Header
          variant="h2"
          counter={`(${group.account.length})`}
          actions={
            <SpaceBetween direction="horizontal" size="xs">
              <CsvButton
                name={`accounts-${group.billinggroup_id}`}
                rows={group.account}
                columns={[
                  [t`Number`, (account) => account.customer_id],
                  [t`Name`, (account) => account.customer_name],
                  [t`Vendor`, (account) => formatVendor(account.vendor)],
                ]}
              />
              {assign}
            </SpaceBetween>
          }
        >
          <Trans>Accounts</Trans>
        </Header>
      }
      columnDefinitions={[
        {
          id: "number",
          header: t`Number`,
          isRowHeader: true,
          cell: (account) => (
            <RouterLink to={`/accounts?vendor=${account.vendor}&search=${account.customer_id}`}>
              {account.customer_id}
            </RouterLink>
          ),
        },
        { id: "name", header: t`Name`, cell: (account) => account.customer_name },
        { id: "vendor", header: t`Vendor`, cell: (account) => formatVendor(account.vendor) },
      ]}
      empty={
        <SpaceBetween size="xs">
          <Box>
            <Trans>No account belongs to this customer, so there is nothing to invoice.</Trans>
          </Box>
          {assign}
        </SpaceBetween>
      }
    />
  );
}
