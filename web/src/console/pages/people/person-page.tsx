// One person: what they may do, for which customers, and how that is changed.
import Alert from "@cloudscape-design/components/alert";
import Button from "@cloudscape-design/components/button";
import Container from "@cloudscape-design/components/container";
import ContentLayout from "@cloudscape-design/components/content-layout";
import Header from "@cloudscape-design/components/header";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { useParams } from "react-router";
import { useApi } from "../../../api/queries.ts";
import type { components } from "../../../api/schema.ts";
import { DeletePersonDialog } from "../../../components/delete-person-dialog.tsx";
import { formatTime } from "../../../components/month.ts";
import { PageTitle } from "../../../components/page-title.tsx";
import { PasswordDialog } from "../../../components/password-dialog.tsx";
import { QueryState } from "../../../components/query-state.tsx";
import { RouterLink } from "../../../components/router-link.tsx";
import { useLanguage } from "../../../language/language.tsx";
import { FactorListOfPerson } from "../../../security/factor-list.tsx";
import { SessionList } from "../../../security/session-list.tsx";
import { useMay, useMe } from "../../me.ts";
import { AccessForm } from "./access-form.tsx";
import { PermissionSentences } from "./permission-sentences.tsx";

export type Person = components["schemas"]["Subuser"];

export default function PersonPage() {
  const { t } = useLingui();
  const { user = "" } = useParams();
  const people = useApi("/m/u/users", { query: { search: user } });
  const title = people.data?.find((person) => isNamed(person, user))?.username ?? user;
  return (
    <>
      <PageTitle title={title} />
      <QueryState query={people}>
        {(found) => {
          const person = found.find((each) => isNamed(each, user));
          if (person === undefined)
            return (
              <Alert type="warning" header={t`There is no person with this name.`}>
                <RouterLink to="/people">
                  <Trans>See all people</Trans>
                </RouterLink>
              </Alert>
            );
          return <OnePerson key={person.user_id} person={person} />;
        }}
      </QueryState>
    </>
  );
}

function isNamed(person: Person, user: string): boolean {
  return person.user_id === user || person.username.toLowerCase() === user.toLowerCase();
}

function OnePerson({ person }: { person: Person }) {
  const { t } = useLingui();
  const { language } = useLanguage();
  const may = useMay();
  const mayReadRoles = may("ReadRoles", "ModifyRoles");
  const mayChange = may("ModifyUsers");
  const me = useMe().data;
  return (
    <ContentLayout
      header={
        <Header
          variant="h1"
          description={t`What this person may do and for which customers.`}
          actions={<PersonActions person={person} />}
        >
          {person.username}
        </Header>
      }
    >
      <SpaceBetween size="l">
        <Container header={<Header variant="h2">{t`Person`}</Header>}>
          <KeyValuePairs
            columns={3}
            items={[
              { label: t`E-mail`, value: person.email ?? "–" },
              { label: t`Added`, value: formatTime(person.create_time, language) },
              { label: t`User id`, value: person.user_id },
            ]}
          />
        </Container>
        {mayReadRoles && <AccessContainer person={person} />}
        {mayChange && (
          <FactorListOfPerson
            userId={person.user_id}
            username={person.username}
            own={me?.user_id === person.user_id}
          />
        )}
        {mayChange && <SessionList userId={person.user_id} />}
      </SpaceBetween>
    </ContentLayout>
  );
}

function PersonActions({ person }: { person: Person }) {
  const { t } = useLingui();
  const may = useMay();
  const me = useMe().data;
  const [open, setOpen] = useState<"password" | "delete">();
  const end = () => setOpen(undefined);
  const mayChange = may("ModifyUsers") && me?.user_id !== person.user_id;
  return (
    <>
      <SpaceBetween direction="horizontal" size="s" alignItems="center">
        {may("ModifyApiClients") && (
          <RouterLink to={`/api-clients?user=${person.username}`}>
            <Trans>API clients</Trans>
          </RouterLink>
        )}
        {may("ReadAudit") && (
          <RouterLink to={`/audit?actor=${person.user_id}`}>
            <Trans>What they changed</Trans>
          </RouterLink>
        )}
        {mayChange && <Button onClick={() => setOpen("password")}>{t`Reset the password`}</Button>}
        {mayChange && <Button onClick={() => setOpen("delete")}>{t`Delete`}</Button>}
      </SpaceBetween>
      {open === "password" && <PasswordDialog person={person} onEnd={end} />}
      {open === "delete" && <DeletePersonDialog person={person} onEnd={end} />}
    </>
  );
}

function AccessContainer({ person }: { person: Person }) {
  const { t } = useLingui();
  const mayChange = useMay()("ModifyRoles");
  const [editing, setEditing] = useState(false);
  const access = useApi("/m/auth/rbac/{subuser}/access", { path: { subuser: person.user_id } });
  return (
    <Container
      header={
        <Header
          variant="h2"
          description={t`All roles added up. Changes take effect at once.`}
          actions={
            mayChange &&
            !editing && (
              <Button variant="primary" onClick={() => setEditing(true)}>
                <Trans>Change access</Trans>
              </Button>
            )
          }
        >
          <Trans>Access</Trans>
        </Header>
      }
    >
      <QueryState query={access}>
        {(loaded) =>
          editing ? (
            <AccessForm person={person} access={loaded} onEnd={() => setEditing(false)} />
          ) : (
            <AccessView access={loaded} />
          )
        }
      </QueryState>
    </Container>
  );
}

function AccessView({ access }: { access: components["schemas"]["EffectiveAccess"] }) {
  const { t } = useLingui();
  const core = access.namespaces.find((each) => each.namespace === "core");
  const roles = core?.roles ?? [];
  const groups = access.billing_groups;
  return (
    <KeyValuePairs
      columns={1}
      items={[
        {
          label: t`Roles`,
          value:
            roles.length === 0 ? (
              t`No role yet. Without a role this person sees nothing.`
            ) : (
              <SpaceBetween direction="horizontal" size="s">
                {roles.map((role) => (
                  <RouterLink key={role} to={`/roles/${role}`}>
                    {role}
                  </RouterLink>
                ))}
              </SpaceBetween>
            ),
        },
        {
          label: t`May do`,
          value: <PermissionSentences permissions={core?.permissions ?? []} />,
        },
        {
          label: t`For these customers`,
          value:
            groups === null ? (
              t`All customers`
            ) : (
              <SpaceBetween direction="horizontal" size="s">
                {groups.map((group) => (
                  <RouterLink key={group.company_id} to={`/customers/${group.company_id}`}>
                    {group.billinggroup_name}
                  </RouterLink>
                ))}
              </SpaceBetween>
            ),
        },
      ]}
    />
  );
}
