// The people at a customer, and who of them receives invoices by mail.
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import ButtonDropdown from "@cloudscape-design/components/button-dropdown";
import Header from "@cloudscape-design/components/header";
import { Trans, useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { useSearchParams } from "react-router";
import { useApi } from "../../../api/queries.ts";
import type { components } from "../../../api/schema.ts";
import { QueryState } from "../../../components/query-state.tsx";
import { RouterLink } from "../../../components/router-link.tsx";
import { SmallTable } from "../../../components/small-table.tsx";
import { useMay } from "../../me.ts";
import { readSendingPath } from "../../sending-path.ts";
import { ContactDialog } from "./contact-dialog.tsx";
import { DeleteContactDialog } from "./delete-contact-dialog.tsx";

export type Contact = components["schemas"]["Contact"];

const LANGUAGES = { ja: "日本語", en: "English" };

export function Contacts({ company }: { company: string }) {
  const { t } = useLingui();
  const mayChange = useMay()("ModifyBillingGroup");
  const [params] = useSearchParams();
  const back = readSendingPath(params.get("back"));
  const contacts = useApi("/m/core/billinggroup/{company_id}/contacts", {
    path: { company_id: company },
  });
  const [dialog, setDialog] = useState<{ kind: "edit" | "delete"; contact?: Contact }>();
  const end = () => setDialog(undefined);
  const columns = [
    {
      id: "name",
      header: t`Name of the contact`,
      isRowHeader: true,
      cell: (contact: Contact) => contact.name,
    },
    { id: "email", header: t`E-mail address`, cell: (contact: Contact) => contact.email },
    {
      id: "invoices",
      header: t`Invoices by mail`,
      cell: (contact: Contact) => {
        if (!contact.receives_invoices) return t`None`;
        return contact.send_as === "to" ? t`As recipient (To)` : t`As copy (Cc)`;
      },
    },
    {
      id: "language",
      header: t`Language of mails`,
      cell: (contact: Contact) =>
        contact.language === null ? t`That of the customer` : LANGUAGES[contact.language],
    },
    ...(mayChange
      ? [
          {
            id: "actions",
            header: t`Actions`,
            cell: (contact: Contact) => (
              <ButtonDropdown
                variant="inline-icon"
                ariaLabel={t`Actions for ${contact.name}`}
                expandToViewport
                items={[
                  { id: "edit", text: t`Edit` },
                  { id: "delete", text: t`Delete` },
                ]}
                onItemClick={({ detail }) =>
                  setDialog({ kind: detail.id === "edit" ? "edit" : "delete", contact })
                }
              />
            ),
          },
        ]
      : []),
  ];
  return (
    <QueryState query={contacts}>
      {(loaded) => (
        <>
          {back !== undefined && (
            <Box margin={{ bottom: "s" }}>
              <RouterLink to={back}>
                <Trans>Back to sending</Trans>
              </RouterLink>
            </Box>
          )}
          <SmallTable<Contact>
            label={t`Contacts`}
            items={loaded}
            trackBy="contact_id"
            columns={columns}
            header={
              <Header
                variant="h2"
                counter={`(${loaded.length})`}
                description={t`Invoices are mailed to these people.`}
                actions={
                  mayChange && (
                    <Button onClick={() => setDialog({ kind: "edit" })}>
                      <Trans>Add a contact</Trans>
                    </Button>
                  )
                }
              >
                <Trans>Contacts</Trans>
              </Header>
            }
            empty={
              <Box>
                <Trans>Nobody receives invoices of this customer by mail yet.</Trans>
              </Box>
            }
          />
          {dialog?.kind === "edit" && (
            <ContactDialog company={company} contact={dialog.contact} onEnd={end} />
          )}
          {dialog?.kind === "delete" && dialog.contact && (
            <DeleteContactDialog contact={dialog.contact} onEnd={end} />
          )}
        </>
      )}
    </QueryState>
  );
}
