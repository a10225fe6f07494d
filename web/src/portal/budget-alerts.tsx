// Who receives a mail when a threshold of a budget is passed.
import Alert from "@cloudscape-design/components/alert";
import Button from "@cloudscape-design/components/button";
import Container from "@cloudscape-design/components/container";
import FormField from "@cloudscape-design/components/form-field";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Textarea from "@cloudscape-design/components/textarea";
import Toggle from "@cloudscape-design/components/toggle";
import { Trans, useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { useApi, useChange } from "../api/queries.ts";
import type { components } from "../api/schema.ts";
import { useErrorText } from "../components/error-text.ts";
import { useNotifications } from "../components/notifications.tsx";
import { QueryState } from "../components/query-state.tsx";

type Alerts = components["schemas"]["CompanyAlertSettings"];

export function BudgetAlerts({ mayEdit }: { mayEdit: boolean }) {
  const alerts = useApi("/m/portal/budgets/alerts");
  return (
    <Container
      header={
        <Header variant="h2">
          <Trans>Budget alerts</Trans>
        </Header>
      }
    >
      <QueryState query={alerts}>
        {(loaded) => <AlertForm key={JSON.stringify(loaded)} alerts={loaded} mayEdit={mayEdit} />}
      </QueryState>
    </Container>
  );
}

function AlertForm({ alerts, mayEdit }: { alerts: Alerts; mayEdit: boolean }) {
  const { t } = useLingui();
  const errorText = useErrorText();
  const { notify } = useNotifications();
  const [enabled, setEnabled] = useState(alerts.enabled);
  const [text, setText] = useState(alerts.recipients.join("\n"));
  const recipients = text.split(/[\s,]+/).filter((address) => address !== "");
  const save = useChange(
    (client) =>
      client.put("/m/portal/budgets/alerts", {
        body: {
          enabled,
          recipients,
          ...(alerts.language !== null && { language: alerts.language }),
        },
      }),
    { onSuccess: () => notify({ type: "success", content: t`The budget alerts were saved.` }) },
  );
  const changed =
    enabled !== alerts.enabled || recipients.join(" ") !== alerts.recipients.join(" ");
  return (
    <SpaceBetween size="m">
      {save.error !== null && <Alert type="error">{errorText(save.error)}</Alert>}
      <Toggle
        checked={enabled}
        disabled={!mayEdit}
        onChange={({ detail }) => setEnabled(detail.checked)}
      >
        <Trans>Send a mail when a threshold is reached</Trans>
      </Toggle>
      <FormField label={t`Recipients`} constraintText={t`One address per line, at most 20`}>
        <Textarea
          value={text}
          rows={3}
          disabled={!mayEdit}
          onChange={({ detail }) => setText(detail.value)}
        />
      </FormField>
      {mayEdit && (
        <Button loading={save.isPending} disabled={!changed} onClick={() => save.mutate(undefined)}>
          <Trans>Save the alerts</Trans>
        </Button>
      )}
    </SpaceBetween>
  );
}
