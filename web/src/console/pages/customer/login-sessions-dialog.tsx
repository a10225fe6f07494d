// The browsers in which a portal login is signed in; each session can be ended.
import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Modal from "@cloudscape-design/components/modal";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Table from "@cloudscape-design/components/table";
import { Trans, useLingui } from "@lingui/react/macro";
import { useApi, useChange } from "../../../api/queries.ts";
import type { components } from "../../../api/schema.ts";
import { useErrorText } from "../../../components/error-text.ts";
import { useNotifications } from "../../../components/notifications.tsx";
import { QueryState } from "../../../components/query-state.tsx";
import { nameBrowser } from "../../../security/browser-name.ts";
import { useSessionColumns } from "../../../security/session-list.tsx";
import type { PortalLogin } from "./portal-logins.tsx";

type Session = components["schemas"]["ResellerSession"];

export function LoginSessionsDialog({ login, onEnd }: { login: PortalLogin; onEnd: () => void }) {
  const { t } = useLingui();
  const errorText = useErrorText();
  const { notify } = useNotifications();
  const path = { user_id: login.user_id };
  const sessions = useApi("/m/core/reseller/{user_id}/sessions", { path });
  const places = useSessionColumns();
  const end = useChange(
    (client, session: Session) =>
      client.delete("/m/core/reseller/{user_id}/sessions/{session_id}", {
        path: { ...path, session_id: session.session_id },
      }),
    { onSuccess: () => notify({ type: "success", content: t`The session has ended.` }) },
  );
  const nameSession = ({ user_agent }: Session) =>
    user_agent === null ? "–" : nameBrowser(user_agent);
  return (
    <Modal
      visible
      size="large"
      header={t`Sessions of ${login.email}`}
      closeAriaLabel={t`Close`}
      onDismiss={onEnd}
    >
      <SpaceBetween size="m">
        {end.error !== null && <Alert type="error">{errorText(end.error)}</Alert>}
        <Trans>An ended session is signed out at once.</Trans>
        <QueryState query={sessions}>
          {(found) => (
            <Table<Session>
              variant="embedded"
              items={found}
              trackBy="session_id"
              wrapLines
              ariaLabels={{ tableLabel: t`Sessions` }}
              columnDefinitions={[
                { id: "browser", header: t`Browser`, isRowHeader: true, cell: nameSession },
                ...places,
                {
                  id: "end",
                  header: t`Action`,
                  cell: (session: Session) => (
                    <Button
                      variant="inline-link"
                      disabled={end.isPending}
                      onClick={() => end.mutate(session)}
                    >
                      <Trans>End the session</Trans>
                    </Button>
                  ),
                },
              ]}
              empty={
                <Box textAlign="center" color="text-body-secondary">
                  <Trans>Signed in nowhere.</Trans>
                </Box>
              }
            />
          )}
        </QueryState>
      </SpaceBetween>
    </Modal>
  );
}
