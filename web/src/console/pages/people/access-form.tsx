// Changes the roles and customers of a person.
import Alert from "@cloudscape-design/components/alert";
import Button from "@cloudscape-design/components/button";
import Form from "@cloudscape-design/components/form";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { useChange } from "../../../api/queries.ts";
import type { components } from "../../../api/schema.ts";
import { useErrorText } from "../../../components/error-text.ts";
import { useNotifications } from "../../../components/notifications.tsx";
import { UnsavedChanges } from "../../../components/unsaved-changes.tsx";
import { AccessFields } from "./access-fields.tsx";
import type { Person } from "./person-page.tsx";
import { readChoice, saveAccess } from "./save-access.ts";

interface AccessFormProps {
  person: Person;
  access: components["schemas"]["EffectiveAccess"];
  onEnd: () => void;
}

export function AccessForm({ person, access, onEnd }: AccessFormProps) {
  const { t } = useLingui();
  const { notify } = useNotifications();
  const errorText = useErrorText();
  const [initial] = useState(() => readChoice(access));
  const [choice, setChoice] = useState(initial);
  const changed = JSON.stringify(choice) !== JSON.stringify(initial);
  const save = useChange((client) => saveAccess(client, person.user_id, choice, access), {
    onSuccess: () => {
      notify({ type: "success", content: t`The access of ${person.username} was saved.` });
      onEnd();
    },
  });
  return (
    <Form
      actions={
        <SpaceBetween direction="horizontal" size="xs">
          <Button variant="link" onClick={onEnd}>
            <Trans>Cancel</Trans>
          </Button>
          <Button
            variant="primary"
            loading={save.isPending}
            disabled={!changed || choice.customers?.length === 0}
            onClick={() => save.mutate(undefined)}
          >
            <Trans>Save</Trans>
          </Button>
        </SpaceBetween>
      }
    >
      <UnsavedChanges changed={changed && !save.isSuccess} />
      <SpaceBetween size="l">
        {save.error !== null && <Alert type="error">{errorText(save.error)}</Alert>}
        <AccessFields
          value={choice}
          onChange={setChoice}
          error={save.error}
          disabled={save.isPending}
        />
      </SpaceBetween>
    </Form>
  );
}
