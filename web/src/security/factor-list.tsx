// The second factors of a user: passkeys and authenticator apps.
import Button from "@cloudscape-design/components/button";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { useApi } from "../api/queries.ts";
import type { components } from "../api/schema.ts";
import { formatTime } from "../components/month.ts";
import { QueryState } from "../components/query-state.tsx";
import { SmallTable } from "../components/small-table.tsx";
import { useLanguage } from "../language/language.tsx";
import { AddFactorDialog } from "./add-factor-dialog.tsx";
import { RemoveFactorDialog } from "./remove-factor-dialog.tsx";
import { RemoveFactorsDialog } from "./remove-factors-dialog.tsx";

export type SecondFactor = components["schemas"]["SecondFactor"];
type Open =
  | { kind: "add"; factor: SecondFactor["kind"] }
  | { kind: "remove"; factor: SecondFactor };

/** The own factors, which can be added and removed one by one. */
export function OwnFactorList({ userId }: { userId: string }) {
  const { t } = useLingui();
  const [open, setOpen] = useState<Open>();
  const end = () => setOpen(undefined);
  return (
    <>
      <FactorTable
        userId={userId}
        description={t`With a second factor, your password alone is not enough to sign in.`}
        empty={t`No second factor yet.`}
        onRemove={(factor) => setOpen({ kind: "remove", factor })}
        actions={() => (
          <SpaceBetween direction="horizontal" size="xs">
            <Button onClick={() => setOpen({ kind: "add", factor: "totp" })}>
              <Trans>Add an authenticator app</Trans>
            </Button>
            <Button variant="primary" onClick={() => setOpen({ kind: "add", factor: "passkey" })}>
              <Trans>Add a passkey</Trans>
            </Button>
          </SpaceBetween>
        )}
      />
      {open?.kind === "add" && <AddFactorDialog kind={open.factor} onEnd={end} />}
      {open?.kind === "remove" && <RemoveFactorDialog factor={open.factor} onEnd={end} />}
    </>
  );
}

/** The factors of somebody else, which can be removed together when they are lost. */
export function FactorListOfPerson(props: { userId: string; username: string; own: boolean }) {
  const { t } = useLingui();
  const [open, setOpen] = useState(false);
  return (
    <>
      <FactorTable
        userId={props.userId}
        description={t`Remove them if this person has lost the device.`}
        empty={t`This person signs in with the password alone.`}
        actions={(found) =>
          found.length > 0 &&
          !props.own && (
            <Button onClick={() => setOpen(true)}>
              <Trans>Remove the second factors</Trans>
            </Button>
          )
        }
      />
      {open && <RemoveFactorsDialog {...props} onEnd={() => setOpen(false)} />}
    </>
  );
}

interface FactorTableProps {
  userId: string;
  description: string;
  empty: string;
  actions: (factors: readonly SecondFactor[]) => React.ReactNode;
  onRemove?: (factor: SecondFactor) => void;
}

function FactorTable({ userId, description, empty, actions, onRemove }: FactorTableProps) {
  const { t } = useLingui();
  const factors = useApi("/m/u/users/{user_id}/second-factors", { path: { user_id: userId } });
  const columns = useColumns(onRemove);
  return (
    <QueryState query={factors}>
      {(found) => (
        <SmallTable
          label={t`Second factors`}
          items={found}
          columns={columns}
          trackBy="factor_id"
          header={
            <Header
              variant="h2"
              counter={`(${found.length})`}
              description={description}
              actions={actions(found)}
            >
              <Trans>Second factors</Trans>
            </Header>
          }
          empty={empty}
        />
      )}
    </QueryState>
  );
}

function useColumns(onRemove: ((factor: SecondFactor) => void) | undefined) {
  const { t } = useLingui();
  const { language } = useLanguage();
  const columns = [
    {
      id: "name",
      header: t`Name`,
      isRowHeader: true,
      cell: (factor: SecondFactor) => factor.name,
    },
    {
      id: "kind",
      header: t`Kind`,
      cell: (factor: SecondFactor) =>
        factor.kind === "passkey" ? t`Passkey` : t`Authenticator app`,
    },
    {
      id: "created",
      header: t`Added`,
      cell: (factor: SecondFactor) => formatTime(factor.create_time, language),
    },
    {
      id: "used",
      header: t`Last used`,
      cell: (factor: SecondFactor) =>
        factor.last_use_time === null ? "–" : formatTime(factor.last_use_time, language),
    },
  ];
  if (onRemove === undefined) return columns;
  const remove = {
    id: "remove",
    header: t`Action`,
    cell: (factor: SecondFactor) => (
      <Button variant="inline-link" onClick={() => onRemove(factor)}>
        <Trans>Remove</Trans>
      </Button>
    ),
  };
  return [...columns, remove];
}
