// One customer: its terms, what happened, what we earn.
import Badge from "@cloudscape-design/components/badge";
import Button from "@cloudscape-design/components/button";
import ContentLayout from "@cloudscape-design/components/content-layout";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Tabs from "@cloudscape-design/components/tabs";
import { Trans, useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { useParams, useSearchParams } from "react-router";
import type { components } from "../../../api/schema.ts";
import { useVersioned, type Versioned } from "../../../components/editing.ts";
import { PageTitle } from "../../../components/page-title.tsx";
import { QueryState } from "../../../components/query-state.tsx";
import { useVisibleTab } from "../../../components/visible-tab.ts";
import { AuditLink } from "../../audit-link.tsx";
import { useMay } from "../../me.ts";
import { Contacts } from "./contacts.tsx";
import { CustomerAccounts } from "./customer-accounts.tsx";
import { CustomerDetails } from "./customer-details.tsx";
import { CustomerHistory } from "./customer-history.tsx";
import { CustomerTerms } from "./customer-terms.tsx";
import { DeleteCustomerDialog } from "./delete-customer-dialog.tsx";
import { FreeFormatItems } from "./free-format-items.tsx";
import { PortalLogins } from "./portal-logins.tsx";
import { useViewPortal } from "./view-portal.ts";
import "./customer.css";

export type BillingGroup = components["schemas"]["BillingGroupRecord"];

export default function CustomerPage() {
  const { company = "" } = useParams();
  const { t } = useLingui();
  const may = useMay();
  const [deleting, setDeleting] = useState(false);
  const portal = useViewPortal();
  const group = useVersioned("/m/core/billinggroup/{company_id}/resource", {
    path: { company_id: company },
  });
  const title = group.data?.data.name ?? t`Customer`;
  return (
    <ContentLayout
      header={
        <Header
          variant="h1"
          description={group.data?.data.billinggroup_name}
          actions={
            group.data !== undefined && (
              <SpaceBetween direction="horizontal" size="s" alignItems="center">
                <AuditLink company={company} />
                {may("ModifyReseller") && (
                  <Button
                    iconName="external"
                    iconAlign="right"
                    loading={portal.busy}
                    onClick={() => portal.open(company)}
                  >
                    <Trans>View portal as this customer</Trans>
                  </Button>
                )}
                {may("ModifyBillingGroup") && (
                  <Button onClick={() => setDeleting(true)}>
                    <Trans>Delete</Trans>
                  </Button>
                )}
              </SpaceBetween>
            )
          }
        >
          {title} {group.data && <Badge>{group.data.data.billinggroup_id}</Badge>}
        </Header>
      }
    >
      <PageTitle title={title} />
      <QueryState query={group}>
        {(loaded) => <CustomerTabs key={company} loaded={loaded} />}
      </QueryState>
      {deleting && group.data !== undefined && (
        <DeleteCustomerDialog group={group.data.data} onEnd={() => setDeleting(false)} />
      )}
    </ContentLayout>
  );
}

function CustomerTabs({ loaded }: { loaded: Versioned<BillingGroup> }) {
  const { t } = useLingui();
  const may = useMay();
  const [params, setParams] = useSearchParams();
  const chosen = params.get("tab") ?? "terms";
  const group = loaded.data;
  const tabs = [
    {
      id: "terms",
      label: t`Terms and results`,
      content: (
        <SpaceBetween size="l">
          <CustomerTerms group={group} />
          <CustomerHistory company={group.company_id} />
        </SpaceBetween>
      ),
    },
    {
      id: "accounts",
      label: t`Accounts (${group.account.length})`,
      content: <CustomerAccounts group={group} />,
    },
    {
      id: "contacts",
      label: t`Contacts`,
      content: <Contacts company={group.company_id} />,
    },
    { id: "items", label: t`Free-format items`, content: <FreeFormatItems loaded={loaded} /> },
    ...(may("ReadReseller", "ModifyReseller")
      ? [{ id: "portal", label: t`Portal logins`, content: <PortalLogins group={group} /> }]
      : []),
    { id: "details", label: t`Contact and address`, content: <CustomerDetails loaded={loaded} /> },
  ];
  return (
    <div ref={useVisibleTab(chosen)}>
      <Tabs
        tabs={tabs}
        activeTabId={chosen}
        ariaLabel={t`Parts of the customer`}
        onChange={({ detail }) => setParams({ tab: detail.activeTabId }, { replace: true })}
      />
    </div>
  );
}
