// The browsers in which a user is signed in; each session can be ended.
import Badge from "@cloudscape-design/components/badge";
import Button from "@cloudscape-design/components/button";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { useApi, useChange } from "../api/queries.ts";
import type { components } from "../api/schema.ts";
import { ConfirmDialog } from "../components/confirm-dialog.tsx";
import { formatTime } from "../components/month.ts";
import { useNotifications } from "../components/notifications.tsx";
import { QueryState } from "../components/query-state.tsx";
import { SmallTable } from "../components/small-table.tsx";
import { useLanguage } from "../language/language.tsx";
import { nameBrowser } from "./browser-name.ts";

type ConsoleSession = components["schemas"]["ConsoleSession"];
type SignedInBrowser = Pick<
  ConsoleSession,
  "user_agent" | "address" | "create_time" | "last_use_time"
>;

export function SessionList({ userId }: { userId: string }) {
  const { t } = useLingui();
  const [ending, setEnding] = useState<ConsoleSession>();
  const sessions = useApi("/m/u/users/{user_id}/sessions", { path: { user_id: userId } });
  const columns = useColumns(setEnding);
  return (
    <QueryState query={sessions}>
      {(found) => (
        <>
          <SmallTable
            label={t`Sessions`}
            items={found}
            columns={columns}
            trackBy="session_id"
            header={
              <Header
                variant="h2"
                counter={`(${found.length})`}
                description={t`An ended session is signed out at once.`}
              >
                <Trans>Sessions</Trans>
              </Header>
            }
            empty={<Trans>Signed in nowhere.</Trans>}
          />
          {ending !== undefined && (
            <EndSessionDialog userId={userId} session={ending} onEnd={() => setEnding(undefined)} />
          )}
        </>
      )}
    </QueryState>
  );
}

/** Where and when somebody has signed in, for lists of sessions. */
export function useSessionColumns() {
  const { t } = useLingui();
  const { language } = useLanguage();
  return [
    {
      id: "address",
      header: t`Network address`,
      cell: (session: SignedInBrowser) => session.address ?? "–",
    },
    {
      id: "created",
      header: t`Signed in`,
      cell: (session: SignedInBrowser) => formatTime(session.create_time, language),
    },
    {
      id: "used",
      header: t`Last used`,
      cell: (session: SignedInBrowser) => formatTime(session.last_use_time, language),
    },
  ];
}

function useColumns(onEnd: (session: ConsoleSession) => void) {
  const { t } = useLingui();
  const places = useSessionColumns();
  return [
    {
      id: "browser",
      header: t`Browser`,
      isRowHeader: true,
      cell: (session: ConsoleSession) => (
        <SpaceBetween direction="horizontal" size="xs">
          <span>{session.user_agent === null ? "–" : nameBrowser(session.user_agent)}</span>
          {session.current && <Badge color="green">{t`This browser`}</Badge>}
        </SpaceBetween>
      ),
    },
    {
      id: "product",
      header: t`Page`,
      cell: (session: ConsoleSession) =>
        session.product === "portal" ? t`Customer portal` : t`Reseller console`,
    },
    ...places,
    {
      id: "end",
      header: t`Action`,
      cell: (session: ConsoleSession) =>
        session.current ? (
          "–"
        ) : (
          <Button variant="inline-link" onClick={() => onEnd(session)}>
            <Trans>End the session</Trans>
          </Button>
        ),
    },
  ];
}

interface EndSessionDialogProps {
  userId: string;
  session: ConsoleSession;
  onEnd: () => void;
}

function EndSessionDialog({ userId, session, onEnd }: EndSessionDialogProps) {
  const { t } = useLingui();
  const { notify } = useNotifications();
  const end = useChange(
    (client) =>
      client.delete("/m/u/users/{user_id}/sessions/{session_id}", {
        path: { user_id: userId, session_id: session.session_id },
      }),
    {
      onSuccess: () => {
        notify({ type: "success", content: t`The session has ended.` });
        onEnd();
      },
    },
  );
  const browser = session.user_agent === null ? "–" : nameBrowser(session.user_agent);
  return (
    <ConfirmDialog
      title={t`End the session?`}
      action={t`End the session`}
      busy={end.isPending}
      error={end.error}
      onConfirm={() => end.mutate(undefined)}
      onCancel={onEnd}
    >
      <Trans>{browser} is signed out at once. What is typed there and not saved is lost.</Trans>
    </ConfirmDialog>
  );
}
