// Adds an endpoint and shows its secret once, or changes an endpoint.
import Checkbox from "@cloudscape-design/components/checkbox";
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import Multiselect from "@cloudscape-design/components/multiselect";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import { useState } from "react";
import type { ApiError } from "../../../api/client.ts";
import { useChange } from "../../../api/queries.ts";
import { ConfirmDialog } from "../../../components/confirm-dialog.tsx";
import { useNotifications } from "../../../components/notifications.tsx";
import { useFieldErrors } from "../../../components/rule-text.ts";
import { type EventType, useEventTexts, type WebhookEndpoint } from "./event-texts.ts";
import { SecretDialog } from "./secret-dialog.tsx";

type Fields = Pick<WebhookEndpoint, "url" | "description" | "event_types" | "enabled">;
const NEW: Fields = { url: "", description: "", event_types: [], enabled: true };
const DESCRIPTION_MAX = 200;

interface EndpointDialogProps {
  /** The endpoint to change; without it a new one is added. */
  endpoint?: WebhookEndpoint;
  onEnd: () => void;
}

export function EndpointDialog({ endpoint, onEnd }: EndpointDialogProps) {
  return endpoint === undefined ? (
    <AddEndpoint onEnd={onEnd} />
  ) : (
    <EditEndpoint endpoint={endpoint} onEnd={onEnd} />
  );
}

function AddEndpoint({ onEnd }: { onEnd: () => void }) {
  const { t } = useLingui();
  const [fields, setFields] = useState(NEW);
  const create = useChange((client) => client.post("/m/core/webhooks", { body: fields }));
  if (create.data !== undefined)
    return (
      <SecretDialog title={t`The endpoint was added`} secret={create.data.secret} onEnd={onEnd} />
    );
  return (
    <ConfirmDialog
      title={t`Add an endpoint`}
      action={t`Add`}
      busy={create.isPending}
      error={create.error}
      ready={fields.url !== ""}
      onConfirm={() => create.mutate(undefined)}
      onCancel={onEnd}
    >
      <EndpointFields fields={fields} onChange={setFields} error={create.error} />
    </ConfirmDialog>
  );
}

function EditEndpoint({ endpoint, onEnd }: { endpoint: WebhookEndpoint; onEnd: () => void }) {
  const { t } = useLingui();
  const { notify } = useNotifications();
  const { url, description, event_types, enabled } = endpoint;
  const [fields, setFields] = useState<Fields>({ url, description, event_types, enabled });
  const save = useChange(
    (client) =>
      client.put("/m/core/webhooks/{endpoint_id}", {
        path: { endpoint_id: endpoint.endpoint_id },
        body: fields,
      }),
    {
      onSuccess: () => {
        notify({ type: "success", content: t`The endpoint was saved.` });
        onEnd();
      },
    },
  );
  return (
    <ConfirmDialog
      title={t`Edit the endpoint`}
      action={t`Save`}
      busy={save.isPending}
      error={save.error}
      ready={fields.url !== ""}
      onConfirm={() => save.mutate(undefined)}
      onCancel={onEnd}
    >
      <EndpointFields fields={fields} onChange={setFields} error={save.error} />
    </ConfirmDialog>
  );
}

interface EndpointFieldsProps {
  fields: Fields;
  onChange: (fields: Fields) => void;
  error: ApiError | null;
}

function EndpointFields({ fields, onChange, error }: EndpointFieldsProps) {
  const { t } = useLingui();
  const fieldErrors = useFieldErrors(error);
  return (
    <SpaceBetween size="m">
      <FormField
        label={t`URL`}
        description={t`Where the program receives events, for example https://example.com/nimbill.`}
        errorText={fieldErrors("url")}
      >
        <Input
          type="url"
          value={fields.url}
          autoComplete={false}
          onChange={({ detail }) => onChange({ ...fields, url: detail.value.trim() })}
        />
      </FormField>
      <FormField
        label={t`Purpose`}
        constraintText={t`At most ${DESCRIPTION_MAX} characters`}
        errorText={fieldErrors("description")}
      >
        <Input
          value={fields.description}
          autoComplete={false}
          onChange={({ detail }) => onChange({ ...fields, description: detail.value })}
        />
      </FormField>
      <EventTypes
        chosen={fields.event_types}
        onChange={(event_types) => onChange({ ...fields, event_types })}
      />
      <Checkbox
        checked={fields.enabled}
        description={t`While an endpoint is disabled, it receives no events, and those that wait are given up.`}
        onChange={({ detail }) => onChange({ ...fields, enabled: detail.checked })}
      >
        <Trans>Enabled</Trans>
      </Checkbox>
    </SpaceBetween>
  );
}

interface EventTypesProps {
  chosen: readonly EventType[];
  onChange: (types: EventType[]) => void;
}

function EventTypes({ chosen, onChange }: EventTypesProps) {
  const { t } = useLingui();
  const texts = useEventTexts();
  const options = (Object.keys(texts) as EventType[]).map((value) => ({
    value,
    label: texts[value],
    labelTag: value,
  }));
  return (
    <FormField label={t`Events`} description={t`Without a choice, all events are sent.`}>
      <Multiselect
        selectedOptions={options.filter(({ value }) => chosen.includes(value))}
        options={options}
        placeholder={t`All events`}
        filteringType="auto"
        deselectAriaLabel={({ label }) => t`Remove ${label}`}
        tokenLimit={4}
        i18nStrings={{ tokenLimitShowMore: t`Show more`, tokenLimitShowFewer: t`Show fewer` }}
        onChange={({ detail }) =>
          onChange(detail.selectedOptions.map(({ value }) => value as EventType))
        }
      />
    </FormField>
  );
}
