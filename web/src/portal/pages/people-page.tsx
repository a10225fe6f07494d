// The company's own people: who signs in, what they may do, which accounts they see.
import Button from "@cloudscape-design/components/button";
import ButtonDropdown from "@cloudscape-design/components/button-dropdown";
import { Trans, useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { useApi } from "../../api/queries.ts";
import type { components } from "../../api/schema.ts";
import { DeletePersonDialog } from "../../components/delete-person-dialog.tsx";
import { PageTitle } from "../../components/page-title.tsx";
import { PasswordDialog } from "../../components/password-dialog.tsx";
import type { Column } from "../../components/server-table.tsx";
import { RemoveFactorsDialog } from "../../security/remove-factors-dialog.tsx";
import { AccessDialog } from "../access-dialog.tsx";
import { BrowserTable } from "../browser-table.tsx";
import { useMay, useMayChange, useMe } from "../me.ts";
import { NewPersonDialog } from "../new-person-dialog.tsx";

type Person = components["schemas"]["Subuser"];
type Action = "access" | "password" | "factors" | "delete";
type Open = { kind: "new" } | { kind: Action; person: Person };

export default function PeoplePage() {
  const { t } = useLingui();
  const may = useMay();
  const mayChange = useMayChange();
  const me = useMe().data;
  const people = useApi("/m/u/users");
  const [open, setOpen] = useState<Open>();
  const end = () => setOpen(undefined);
  const mayReadRoles = may("ReadRoles", "ModifyRoles");
  const items = (person: Person) => [
    ...(mayChange("ModifyRoles") ? [{ id: "access", text: t`Change access` }] : []),
    ...(mayChange("ModifyUsers") && person.user_id !== me?.user_id
      ? [
          { id: "password", text: t`Reset the password` },
          { id: "factors", text: t`Remove the second factors` },
          { id: "delete", text: t`Delete` },
        ]
      : []),
  ];
  const columns: Column<Person>[] = [
    {
      id: "username",
      header: t`User name`,
      sort: "username",
      width: 180,
      alwaysVisible: true,
      cell: (person) => person.username,
      csv: (person) => person.username,
    },
    {
      id: "email",
      header: t`E-mail`,
      sort: "email",
      width: 220,
      cell: (person) => person.email ?? "–",
      csv: (person) => person.email ?? "",
    },
  ];
  if (mayReadRoles)
    columns.push({
      id: "roles",
      header: t`Roles`,
      width: 280,
      cell: (person) => <AccessSummary user={person.user_id} />,
      csv: () => "",
    });
  if (mayChange("ModifyRoles", "ModifyUsers"))
    columns.push({
      id: "actions",
      header: t`Action`,
      width: 140,
      cell: (person) =>
        items(person).length > 0 && (
          <ButtonDropdown
            variant="inline-icon"
            expandToViewport
            ariaLabel={t`Actions for ${person.username}`}
            items={items(person)}
            onItemClick={({ detail }) => setOpen({ kind: detail.id as Action, person })}
          />
        ),
      csv: () => "",
    });
  return (
    <>
      <PageTitle title={t`People`} />
      <BrowserTable<Person>
        id="portal-people"
        title={t`People`}
        columns={columns}
        rows={people.data}
        query={people}
        rowId={(person) => person.user_id}
        searchLabel={t`Name or e-mail`}
        actions={
          mayChange("ModifyUsers") && (
            <Button variant="primary" onClick={() => setOpen({ kind: "new" })}>
              <Trans>Add a person</Trans>
            </Button>
          )
        }
        empty={t`Add a person and choose what they may do.`}
      />
      {open?.kind === "new" && (
        <NewPersonDialog
          onAdded={(person) =>
            mayChange("ModifyRoles") ? setOpen({ kind: "access", person }) : end()
          }
          onEnd={end}
        />
      )}
      {open?.kind === "access" && <AccessDialog person={open.person} onEnd={end} />}
      {open?.kind === "password" && <PasswordDialog person={open.person} onEnd={end} />}
      {open?.kind === "factors" && (
        <RemoveFactorsDialog
          userId={open.person.user_id}
          username={open.person.username}
          onEnd={end}
        />
      )}
      {open?.kind === "delete" && <DeletePersonDialog person={open.person} onEnd={end} />}
    </>
  );
}

/** The roles of a person, and whether they see everything. */
function AccessSummary({ user }: { user: string }) {
  const { t } = useLingui();
  const access = useApi(
    "/m/auth/rbac/{subuser}/access",
    { path: { subuser: user } },
    { staleTime: 60_000 },
  ).data;
  if (access === undefined) return null;
  const roles = access.namespaces.find((each) => each.namespace === "portal")?.roles ?? [];
  if (roles.length === 0) return <>{t`No role yet. Without a role this person sees nothing.`}</>;
  const names = roles.join(", ");
  return <>{access.filters.length === 0 ? names : t`${names} (sees a part of the costs)`}</>;
}
