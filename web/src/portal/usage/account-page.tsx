// Usage by account and service.
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { useApi, useChange } from "../../api/queries.ts";
import { ConfirmDialog } from "../../components/confirm-dialog.tsx";
import { useNotifications } from "../../components/notifications.tsx";
import { useFieldErrors } from "../../components/rule-text.ts";
import { useFlag, useMayChange } from "../me.ts";
import { usePeriod } from "./period.tsx";
import { UsageReport } from "./usage-report.tsx";
import type { ComparedRow } from "./usage-rows.ts";

export default function AccountUsagePage() {
  const { t } = useLingui();
  const flag = useFlag();
  const mayRename = useMayChange()("ModifySettings") && flag("usage_account_menu_account_edit");
  const [renamed, setRenamed] = useState<ComparedRow>();
  const period = usePeriod();
  const report = useApi("/m/portal/usage/account", { query: period.query });
  const isDrawn = flag("usage_account_graph");
  const graph = useApi(
    "/m/portal/usage/account/graph",
    { query: period.query },
    { enabled: isDrawn },
  );
  return (
    <>
      <UsageReport
        title={t`Usage by account`}
        by="account"
        nameHeader={t`Account`}
        period={period}
        report={report}
        readRows={({ rows }) =>
          rows.map(({ customer_id, customer_name, ...row }) => ({
            ...row,
            id: customer_id,
            name: customer_name,
          }))
        }
        graph={isDrawn ? graph : undefined}
        readSeries={({ series }) =>
          series.map(({ id, name, ...each }) => ({
            ...each,
            title: id === null ? t`Others` : name,
          }))
        }
        nameCell={(row) => (
          <>
            <SpaceBetween direction="horizontal" size="xxs">
              <span>{row.name}</span>
              {mayRename && (
                <Button
                  variant="inline-icon"
                  iconName="edit"
                  ariaLabel={t`Rename ${row.name}`}
                  onClick={() => setRenamed(row)}
                />
              )}
            </SpaceBetween>
            <Box variant="small" color="text-body-secondary" display="block">
              {row.id}
            </Box>
          </>
        )}
      />
      {renamed !== undefined && (
        <RenameDialog account={renamed} onEnd={() => setRenamed(undefined)} />
      )}
    </>
  );
}

function RenameDialog({ account, onEnd }: { account: ComparedRow; onEnd: () => void }) {
  const { t } = useLingui();
  const { notify } = useNotifications();
  const [name, setName] = useState(account.name);
  const save = useChange(
    (client) =>
      client.put("/m/portal/accounts/{customer_id}", {
        path: { customer_id: account.id },
        body: { name: name.trim() },
      }),
    {
      onSuccess: () => {
        notify({ type: "success", content: t`The account was renamed.` });
        onEnd();
      },
    },
  );
  const fieldErrors = useFieldErrors(save.error);
  return (
    <ConfirmDialog
      title={t`Rename ${account.id}`}
      action={t`Save`}
      busy={save.isPending}
      error={save.error}
      ready={name.trim() !== "" && name.trim() !== account.name}
      onConfirm={() => save.mutate(undefined)}
      onCancel={onEnd}
    >
      <FormField
        label={t`Name`}
        description={t`Reports and later invoices show this name.`}
        constraintText={t`3 to 100 characters`}
        errorText={fieldErrors("name")}
      >
        <Input value={name} autoComplete={false} onChange={({ detail }) => setName(detail.value)} />
      </FormField>
    </ConfirmDialog>
  );
}
