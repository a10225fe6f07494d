// The form of a role: its name, and a sentence to tick for every permission.
import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Checkbox from "@cloudscape-design/components/checkbox";
import ColumnLayout from "@cloudscape-design/components/column-layout";
import Container from "@cloudscape-design/components/container";
import Form from "@cloudscape-design/components/form";
import FormField from "@cloudscape-design/components/form-field";
import Header from "@cloudscape-design/components/header";
import Input from "@cloudscape-design/components/input";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import { useEffect, useMemo, useState } from "react";
import { useNavigate } from "react-router";
import { useChange } from "../../../api/queries.ts";
import { EditConflict } from "../../../components/edit-conflict.tsx";
import { useEditing } from "../../../components/editing.ts";
import { useErrorText } from "../../../components/error-text.ts";
import { useNotifications } from "../../../components/notifications.tsx";
import { useFieldErrors } from "../../../components/rule-text.ts";
import { UnsavedChanges } from "../../../components/unsaved-changes.tsx";
import { useMay } from "../../me.ts";
import { ADMIN, selectSentences, usePermissionAreas } from "../../permission-texts.ts";
import type { Role } from "./roles-page.tsx";
import "../../../components/plain-fieldset.css";

const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{4,30}[A-Za-z0-9]$/;

const NEW: Role = { name: "", namespace: "core", permissions: [] };

function readForm({ name, permissions }: Role) {
  return { name, permissions: [...permissions].sort() };
}

export function RoleForm({ role = NEW }: { role?: Role }) {
  const { t } = useLingui();
  const navigate = useNavigate();
  const { notify } = useNotifications();
  const errorText = useErrorText();
  const areas = usePermissionAreas();
  const mayChange = useMay()("ModifyRoles");
  const [tried, setTried] = useState(false);
  const loaded = useMemo(() => ({ data: role, version: role.etag }), [role]);
  const editing = useEditing(loaded, readForm);
  const { form, change, changed } = editing;
  const save = useChange(
    (client, ifMatch: string | undefined) => {
      if (role === NEW)
        return client.post("/m/auth/rbac/roles", { body: { ...form, namespace: "core" } });
      return client.patch("/m/auth/rbac/roles/{namespace}/{rolename}", {
        path: { namespace: "core", rolename: role.name },
        body: form,
        ifMatch,
      });
    },
    {
      onSuccess: () => {
        notify({ type: "success", content: t`The role ${form.name} was saved.` });
        // The page of the old name is gone, and this form with it.
        if (role !== NEW && form.name !== role.name) navigate("/roles");
      },
    },
  );
  const { isSuccess } = save;
  // Once nothing is left to save, the form lets go of the page.
  useEffect(() => {
    if (isSuccess) navigate("/roles");
  }, [isSuccess, navigate]);
  const fieldErrors = useFieldErrors(save.error);
  const describe = (shown: typeof form) => {
    const sentences = selectSentences(areas, shown.permissions).flatMap((area) => area.sentences);
    return Object.fromEntries([
      [t`Name of the role`, shown.name],
      [t`What it allows`, sentences.join(" / ")],
    ]);
  };
  const isNamed = NAME.test(form.name);
  const disabled = save.isPending || !mayChange;
  return (
    <Form
      actions={
        mayChange && (
          <SpaceBetween direction="horizontal" size="xs">
            <Button variant="link" onClick={() => navigate("/roles")}>
              <Trans>Cancel</Trans>
            </Button>
            <Button
              variant="primary"
              loading={save.isPending}
              disabled={!changed}
              onClick={() => {
                setTried(true);
                if (isNamed && form.permissions.length > 0) save.mutate(editing.version);
              }}
            >
              <Trans>Save</Trans>
            </Button>
          </SpaceBetween>
        )
      }
    >
      <UnsavedChanges changed={changed && !isSuccess} />
      <SpaceBetween size="l">
        <EditConflict
          error={save.error}
          editing={editing}
          describe={(form) => Object.entries(describe(form))}
          save={(version) => save.mutate(version)}
          onEnd={() => save.reset()}
        />
        {save.error !== null && <Alert type="error">{errorText(save.error)}</Alert>}
        <Container header={<Header variant="h2">{t`Role`}</Header>}>
          <FormField
            label={t`Name of the role`}
            constraintText={t`6 to 32 letters and digits, with - and _ between them`}
            errorText={
              fieldErrors("name") || (tried && !isNamed ? t`Enter a name of this form.` : "")
            }
          >
            <Input
              value={form.name}
              disabled={disabled}
              autoComplete={false}
              onChange={({ detail }) => change({ name: detail.value.trim() })}
            />
          </FormField>
        </Container>
        <PermissionBoxes
          permissions={form.permissions}
          onChange={(permissions) => change({ permissions: [...permissions].sort() })}
          disabled={disabled}
          errorText={
            fieldErrors("permissions") ||
            (tried && form.permissions.length === 0 ? t`Tick at least one permission.` : "")
          }
        />
      </SpaceBetween>
    </Form>
  );
}

interface PermissionBoxesProps {
  permissions: readonly string[];
  onChange: (permissions: readonly string[]) => void;
  disabled: boolean;
  errorText: string;
}

function PermissionBoxes({ permissions, onChange, disabled, errorText }: PermissionBoxesProps) {
  const { t } = useLingui();
  const areas = usePermissionAreas();
  const isAdmin = permissions.includes(ADMIN);
  const tick = (action: string, checked: boolean) =>
    onChange(checked ? [...permissions, action] : permissions.filter((each) => each !== action));
  return (
    <Container header={<Header variant="h2">{t`People with this role`}</Header>}>
      <SpaceBetween size="l">
        {errorText !== "" && <Alert type="error">{errorText}</Alert>}
        <Checkbox
          checked={isAdmin}
          disabled={disabled}
          description={t`For administrators only: it includes every permission, also future ones.`}
          onChange={({ detail }) => tick(ADMIN, detail.checked)}
        >
          <Trans>may do everything</Trans>
        </Checkbox>
        <ColumnLayout columns={2} minColumnWidth={300}>
          {areas.map((area) => (
            <fieldset key={area.title} className="plain-fieldset">
              <legend>
                <Box fontWeight="bold">{area.title}</Box>
              </legend>
              {Object.entries(area.sentences).map(([action, sentence]) => {
                const included = isAdmin || permissions.includes(action.replace("Read", "Modify"));
                const ticked = permissions.includes(action);
                return (
                  <Checkbox
                    key={action}
                    checked={included || ticked}
                    disabled={disabled || isAdmin || (included && !ticked)}
                    onChange={({ detail }) => tick(action, detail.checked)}
                  >
                    {sentence}
                  </Checkbox>
                );
              })}
            </fieldset>
          ))}
        </ColumnLayout>
      </SpaceBetween>
    </Container>
  );
}
