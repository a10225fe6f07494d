// Gives a person roles, and restricts what they see to accounts, account groups or tags.
import FormField from "@cloudscape-design/components/form-field";
import Multiselect from "@cloudscape-design/components/multiselect";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Textarea from "@cloudscape-design/components/textarea";
import { Trans, useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { useApi, useChange } from "../api/queries.ts";
import type { components } from "../api/schema.ts";
import { ConfirmDialog } from "../components/confirm-dialog.tsx";
import { useNotifications } from "../components/notifications.tsx";
import { QueryState } from "../components/query-state.tsx";
import { useFlag, useMay } from "./me.ts";

type Person = components["schemas"]["Subuser"];
type Access = components["schemas"]["EffectiveAccess"];

interface AccessDialogProps {
  person: Person;
  onEnd: () => void;
}

export function AccessDialog(props: AccessDialogProps) {
  const access = useApi("/m/auth/rbac/{subuser}/access", {
    path: { subuser: props.person.user_id },
  });
  return (
    <QueryState query={access}>
      {(loaded) => <AccessForm key={props.person.user_id} access={loaded} {...props} />}
    </QueryState>
  );
}

function AccessForm({ person, access, onEnd }: AccessDialogProps & { access: Access }) {
  const { t } = useLingui();
  const { notify } = useNotifications();
  const flag = useFlag();
  const may = useMay();
  const seesAccounts = may("ReadAccount", "ReadGroups", "ReadBudget");
  const seesGroups = flag("usage_group") && may("ReadGroups");
  const allRoles = useApi("/m/auth/rbac/roles", { query: { namespace: "portal" } });
  const allAccounts = useApi("/m/portal/accounts", {}, { enabled: seesAccounts });
  const allGroups = useApi("/m/portal/groups", {}, { enabled: seesGroups });
  const read = (type: string) => access.filters.find((each) => each.type === type)?.resource ?? [];
  const [roles, setRoles] = useState<readonly string[]>(
    access.namespaces.find((each) => each.namespace === "portal")?.roles ?? [],
  );
  const [accounts, setAccounts] = useState<readonly string[]>(read("linkAcct"));
  const [groups, setGroups] = useState<readonly string[]>(read("group"));
  const [tags, setTags] = useState(read("tags").join("\n"));
  const save = useChange(
    (client) => {
      const filters = Object.entries({
        linkAcct: [...accounts],
        group: [...groups],
        tags: tags.split("\n").flatMap((line) => line.trim() || []),
      });
      return client.patch("/m/auth/rbac/{subuser}/userroles", {
        path: { subuser: person.user_id },
        body: {
          roles: roles.map((role) => ({ namespace: "portal", role })),
          filters: filters
            .filter(([, resource]) => resource.length > 0)
            .map(([type, resource]) => ({ namespace: "portal", type, resource })),
        },
      });
    },
    {
      onSuccess: () => {
        notify({ type: "success", content: t`The access of ${person.username} was saved.` });
        onEnd();
      },
    },
  );
  return (
    <ConfirmDialog
      title={t`Access of ${person.username}`}
      action={t`Save`}
      busy={save.isPending}
      error={save.error}
      onConfirm={() => save.mutate(undefined)}
      onCancel={onEnd}
    >
      <SpaceBetween size="m">
        <ChoiceField
          label={t`Roles`}
          options={(allRoles.data ?? []).map(({ name }) => ({ value: name, label: name }))}
          chosen={roles}
          onChange={setRoles}
        />
        <Trans>
          Without a restriction the person sees all costs of the company. Several restrictions apply
          together.
        </Trans>
        {seesAccounts && (
          <ChoiceField
            label={t`Only these accounts`}
            options={(allAccounts.data ?? []).map((each) => ({
              value: each.customer_id,
              label: each.name,
              description: each.customer_id,
            }))}
            chosen={accounts}
            onChange={setAccounts}
          />
        )}
        {seesGroups && (
          <ChoiceField
            label={t`Only these account groups`}
            options={(allGroups.data ?? []).map((each) => ({
              value: each.group_id,
              label: each.name,
            }))}
            chosen={groups}
            onChange={setGroups}
          />
        )}
        <FormField
          label={t`Only these tags`}
          constraintText={t`One per line as KEY=VALUE, for example Team=web`}
        >
          <Textarea value={tags} rows={2} onChange={({ detail }) => setTags(detail.value)} />
        </FormField>
      </SpaceBetween>
    </ConfirmDialog>
  );
}

interface ChoiceFieldProps {
  label: string;
  options: readonly { value: string; label: string; description?: string }[];
  chosen: readonly string[];
  onChange: (chosen: readonly string[]) => void;
}

/** What is chosen stays chosen, also if it is not offered any more. */
function ChoiceField({ label, options, chosen, onChange }: ChoiceFieldProps) {
  const { t } = useLingui();
  return (
    <FormField label={label}>
      <Multiselect
        options={options}
        filteringType="auto"
        expandToViewport
        selectedOptions={chosen.map(
          (value) => options.find((option) => option.value === value) ?? { value, label: value },
        )}
        deselectAriaLabel={(option) => t`Remove ${option.label ?? ""}`}
        empty={t`Nothing found`}
        onChange={({ detail }) =>
          onChange(detail.selectedOptions.flatMap((option) => option.value ?? []))
        }
      />
    </FormField>
  );
}
