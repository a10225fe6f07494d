// Creates a project, or changes its code, name and currency.
import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Form from "@cloudscape-design/components/form";
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import Modal from "@cloudscape-design/components/modal";
import SegmentedControl from "@cloudscape-design/components/segmented-control";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import { type FormEvent, useState } from "react";
import type { ApiError } from "../../../api/client.ts";
import { useApi, useChange, useClient } from "../../../api/queries.ts";
import type { components } from "../../../api/schema.ts";
import { ConflictDialog } from "../../../components/conflict-dialog.tsx";
import { useErrorText } from "../../../components/error-text.ts";
import { readViolations } from "../../../components/field-errors.ts";
import { useNotifications } from "../../../components/notifications.tsx";
import { QueryState } from "../../../components/query-state.tsx";
import { useFieldErrors } from "../../../components/rule-text.ts";
import { UnsavedChanges } from "../../../components/unsaved-changes.tsx";
import type { ProjectProfit } from "./projects-page.tsx";

const LIST = "/m/core/project";
const LENGTH_MAX = 40;
type ProjectRecord = components["schemas"]["ProjectRecord"];
type Fields = Pick<ProjectRecord, "project_code" | "project_label" | "project_currency">;
const NEW: Fields = { project_code: "", project_label: "", project_currency: "jpy" };

interface ProjectDialogProps {
  /** The project to change; without it a new one is created. */
  project?: ProjectProfit;
  onEnd: () => void;
}

export function ProjectDialog({ project, onEnd }: ProjectDialogProps) {
  const { t } = useLingui();
  const listed = useApi(LIST, { query: { etags: true } }, { enabled: project !== undefined });
  if (project === undefined)
    return <EditProject title={t`Create a project`} fields={NEW} onEnd={onEnd} />;
  const title = t`Edit ${project.project_code}`;
  const record = listed.data?.find((each) => each.project_id === project.project_id);
  if (record === undefined)
    return (
      <Modal visible header={title} closeAriaLabel={t`Close`} onDismiss={onEnd}>
        <QueryState query={listed}>{() => <Trans>This project was deleted.</Trans>}</QueryState>
      </Modal>
    );
  return <EditProject title={title} record={record} fields={readFields(record)} onEnd={onEnd} />;
}

function readFields({ project_code, project_label, project_currency }: ProjectRecord): Fields {
  return { project_code, project_label, project_currency };
}

interface EditProjectProps {
  title: string;
  record?: ProjectRecord;
  fields: Fields;
  onEnd: () => void;
}

function EditProject({ title, record, fields: start, onEnd }: EditProjectProps) {
  const { t } = useLingui();
  const { notify } = useNotifications();
  const reader = useClient();
  // The list is read again in the background; the form keeps what was opened.
  const [opened] = useState(start);
  const [fields, setFields] = useState(start);
  const [etag, setEtag] = useState(record?.etag);
  const [theirs, setTheirs] = useState<ProjectRecord>();
  const save = useChange(
    (client, version: string | undefined) =>
      record === undefined
        ? client.post(LIST, { body: fields })
        : client.post("/m/core/project/{project_id_or_month}", {
            path: { project_id_or_month: record.project_id },
            body: fields,
            ifMatch: version,
          }),
    {
      onSuccess: () => {
        notify({ type: "success", content: t`The project ${fields.project_code} was saved.` });
        onEnd();
      },
      onError: async (error) => {
        if (error.status !== 412) return;
        const listed = await reader.get(LIST, { query: { etags: true } });
        setTheirs(listed.find((each) => each.project_id === record?.project_id));
      },
    },
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate(etag);
  };
  const labels = {
    project_code: t`Code`,
    project_label: t`Name`,
    project_currency: t`Currency`,
  };
  if (theirs !== undefined)
    return (
      <ConflictDialog
        differences={(Object.keys(labels) as (keyof Fields)[])
          .filter((name) => fields[name] !== theirs[name])
          .map((name) => ({ field: labels[name], mine: fields[name], theirs: theirs[name] }))}
        onOverwrite={() => {
          setTheirs(undefined);
          setEtag(theirs.etag);
          save.mutate(theirs.etag);
        }}
        onReload={() => {
          setFields(readFields(theirs));
          setEtag(theirs.etag);
          setTheirs(undefined);
          save.reset();
        }}
        onCancel={() => setTheirs(undefined)}
      />
    );
  return (
    <Modal visible header={title} closeAriaLabel={t`Close`} onDismiss={onEnd}>
      <UnsavedChanges changed={JSON.stringify(fields) !== JSON.stringify(opened)} />
      <form onSubmit={submit}>
        <Form
          actions={
            <SpaceBetween direction="horizontal" size="xs">
              <Button variant="link" formAction="none" onClick={onEnd}>
                <Trans>Cancel</Trans>
              </Button>
              <Button
                variant="primary"
                loading={save.isPending}
                disabled={fields.project_code === "" || fields.project_label === ""}
              >
                <Trans>Save</Trans>
              </Button>
            </SpaceBetween>
          }
        >
          <ProjectFields
            fields={fields}
            onChange={(part) => setFields({ ...fields, ...part })}
            error={save.error}
            busy={save.isPending}
          />
        </Form>
      </form>
    </Modal>
  );
}

interface ProjectFieldsProps {
  fields: Fields;
  onChange: (part: Partial<Fields>) => void;
  error: ApiError | null;
  busy: boolean;
}

function ProjectFields({ fields, onChange, error, busy }: ProjectFieldsProps) {
  const { t } = useLingui();
  const errorText = useErrorText();
  const fieldErrors = useFieldErrors(error);
  return (
    <SpaceBetween size="m">
      {error !== null && readViolations(error).length === 0 && (
        <Alert type="error">{errorText(error)}</Alert>
      )}
      <FormField
        label={t`Code`}
        constraintText={t`At most ${LENGTH_MAX} characters`}
        errorText={fieldErrors("project_code")}
      >
        <Input
          value={fields.project_code}
          disabled={busy}
          onChange={({ detail }) => onChange({ project_code: detail.value })}
        />
      </FormField>
      <FormField
        label={t`Name`}
        constraintText={t`At most ${LENGTH_MAX} characters`}
        errorText={fieldErrors("project_label")}
      >
        <Input
          value={fields.project_label}
          disabled={busy}
          onChange={({ detail }) => onChange({ project_label: detail.value })}
        />
      </FormField>
      <FormField label={t`Currency`} description={t`Sales and profit are shown in it.`}>
        <Box>
          <SegmentedControl
            label={t`Currency`}
            selectedId={fields.project_currency}
            options={[
              { id: "jpy", text: "JPY" },
              { id: "usd", text: "USD" },
            ]}
            onChange={({ detail }) =>
              onChange({ project_currency: detail.selectedId === "usd" ? "usd" : "jpy" })
            }
          />
        </Box>
      </FormField>
    </SpaceBetween>
  );
}
