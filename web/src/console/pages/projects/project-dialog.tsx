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
import { useChange } from "../../../api/queries.ts";
import { useErrorText } from "../../../components/error-text.ts";
import { useNotifications } from "../../../components/notifications.tsx";
import { UnsavedChanges } from "../../../components/unsaved-changes.tsx";
import type { ProjectProfit } from "./projects-page.tsx";

const LENGTH_MAX = 40;
type Fields = Pick<ProjectProfit, "project_code" | "project_label" | "project_currency">;

interface ProjectDialogProps {
  /** The project to change; without it a new one is created. */
  project?: ProjectProfit;
  onEnd: () => void;
}

export function ProjectDialog({ project, onEnd }: ProjectDialogProps) {
  const { t } = useLingui();
  const { notify } = useNotifications();
  const start: Fields = {
    project_code: project?.project_code ?? "",
    project_label: project?.project_label ?? "",
    project_currency: project?.project_currency ?? "jpy",
  };
  const [fields, setFields] = useState(start);
  const save = useChange(
    (client, body: Fields) =>
      project === undefined
        ? client.post("/m/core/project", { body })
        : client.post("/m/core/project/{project_id_or_month}", {
            path: { project_id_or_month: project.project_id },
            body,
          }),
    {
      onSuccess: () => {
        notify({ type: "success", content: t`The project ${fields.project_code} was saved.` });
        onEnd();
      },
    },
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate(fields);
  };
  return (
    <Modal
      visible
      header={project === undefined ? t`Create a project` : t`Edit ${project.project_code}`}
      closeAriaLabel={t`Close`}
      onDismiss={onEnd}
    >
      <UnsavedChanges changed={JSON.stringify(fields) !== JSON.stringify(start)} />
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
  const refused = readFieldErrors(error);
  return (
    <SpaceBetween size="m">
      {error !== null && Object.keys(refused).length === 0 && (
        <Alert type="error">{errorText(error)}</Alert>
      )}
      <FormField
        label={t`Code`}
        constraintText={t`At most ${LENGTH_MAX} characters`}
        errorText={refused.project_code}
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
        errorText={refused.project_label}
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

/** What the service says about each field it refused. */
function readFieldErrors(error: ApiError | null): Record<string, string> {
  const violations = error?.problem.violations;
  if (!Array.isArray(violations)) return {};
  return Object.fromEntries(violations.map(({ field, rule }) => [String(field), String(rule)]));
}
