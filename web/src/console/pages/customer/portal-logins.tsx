// The logins of a customer to the portal: who they are and what they see.
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import ButtonDropdown from "@cloudscape-design/components/button-dropdown";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Table from "@cloudscape-design/components/table";
import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { useApi } from "../../../api/queries.ts";
import type { components } from "../../../api/schema.ts";
import { CsvButton } from "../../../components/csv-button.tsx";
import { formatTime } from "../../../components/month.ts";
import { QueryState } from "../../../components/query-state.tsx";
import { useLanguage } from "../../../language/language.tsx";
import { RemoveFactorsDialog } from "../../../security/remove-factors-dialog.tsx";
import { useMay } from "../../me.ts";
import { CreateLoginDialog } from "./create-login-dialog.tsx";
import type { BillingGroup } from "./customer-page.tsx";
import { DeleteLoginDialog } from "./delete-login-dialog.tsx";
import { LoginFlagsDialog } from "./login-flags-dialog.tsx";
import { LoginPasswordDialog } from "./login-password-dialog.tsx";
import { LoginSessionsDialog } from "./login-sessions-dialog.tsx";
import { usePortalFlags } from "./portal-flags.ts";
import { useViewPortal } from "./view-portal.ts";

export type PortalLogin = components["schemas"]["ResellerRecord"];
type Dialog = "create" | "flags" | "password" | "sessions" | "factors" | "delete";

export function PortalLogins({ group }: { group: BillingGroup }) {
  const { t } = useLingui();
  const { language } = useLanguage();
  const mayChange = useMay()("ModifyReseller");
  const logins = useApi("/m/core/reseller");
  const flags = usePortalFlags().flatMap((each) => each.flags);
  const [dialog, setDialog] = useState<{ kind: Dialog; login?: PortalLogin }>();
  const portal = useViewPortal();
  const end = () => setDialog(undefined);
  const create = mayChange && (
    <Button onClick={() => setDialog({ kind: "create" })}>
      <Trans>Add a portal login</Trans>
    </Button>
  );
  return (
    <QueryState query={logins}>
      {(all) => (
        <>
          <Table
            variant="container"
            items={all.filter((login) => login.company_id === group.company_id)}
            trackBy="user_id"
            wrapLines
            ariaLabels={{ tableLabel: t`Portal logins` }}
            header={
              <Header
                variant="h2"
                description={t`With a login the customer sees usage and invoices in the portal.`}
                actions={
                  <SpaceBetween direction="horizontal" size="xs">
                    <CsvButton
                      name={`portal-logins-${group.billinggroup_id}`}
                      rows={all.filter((login) => login.company_id === group.company_id)}
                      columns={[
                        [t`E-mail address`, (login) => login.email],
                        [t`Created`, (login) => login.portal_registered],
                        [t`Password changed`, (login) => login.password_update_time ?? ""],
                      ]}
                    />
                    {create}
                  </SpaceBetween>
                }
              >
                <Trans>Portal logins</Trans>
              </Header>
            }
            columnDefinitions={[
              {
                id: "email",
                header: t`E-mail address`,
                isRowHeader: true,
                cell: (login) => login.email,
              },
              {
                id: "pages",
                header: t`Shown in the portal`,
                cell: (login) => (
                  <Plural
                    value={flags.filter((flag) => login.meta[flag.name]).length}
                    one="# function"
                    other="# functions"
                  />
                ),
              },
              {
                id: "created",
                header: t`Created`,
                cell: (login) => formatTime(login.portal_registered, language),
              },
              {
                id: "password",
                header: t`Password changed`,
                cell: (login) =>
                  login.password_update_time === null
                    ? t`Never`
                    : formatTime(login.password_update_time, language),
              },
              {
                id: "actions",
                header: t`Actions`,
                cell: (login) =>
                  mayChange && (
                    <ButtonDropdown
                      variant="inline-icon"
                      ariaLabel={t`Actions for ${login.email}`}
                      expandToViewport
                      items={[
                        { id: "view", text: t`View the portal as this login` },
                        { id: "flags", text: t`Choose what is shown` },
                        { id: "password", text: t`Set a new password` },
                        { id: "sessions", text: t`Show the sessions` },
                        { id: "factors", text: t`Remove the second factors` },
                        { id: "delete", text: t`Delete` },
                      ]}
                      onItemClick={({ detail }) => {
                        if (detail.id === "view") portal.open(group.company_id, login.user_id);
                        else setDialog({ kind: detail.id as Dialog, login });
                      }}
                    />
                  ),
              },
            ]}
            empty={
              <SpaceBetween size="xs">
                <Box>
                  <Trans>Nobody of this customer can sign in to the portal.</Trans>
                </Box>
                {create}
              </SpaceBetween>
            }
          />
          {dialog?.kind === "create" && <CreateLoginDialog group={group} onEnd={end} />}
          {dialog?.login && dialog.kind === "flags" && (
            <LoginFlagsDialog login={dialog.login} onEnd={end} />
          )}
          {dialog?.login && dialog.kind === "password" && (
            <LoginPasswordDialog login={dialog.login} onEnd={end} />
          )}
          {dialog?.login && dialog.kind === "sessions" && (
            <LoginSessionsDialog login={dialog.login} onEnd={end} />
          )}
          {dialog?.login && dialog.kind === "factors" && (
            <RemoveFactorsDialog
              userId={dialog.login.user_id}
              username={dialog.login.email}
              portalLogin
              onEnd={end}
            />
          )}
          {dialog?.login && dialog.kind === "delete" && (
            <DeleteLoginDialog login={dialog.login} onEnd={end} />
          )}
        </>
      )}
    </QueryState>
  );
}
