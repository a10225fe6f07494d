// What can be done with a report: download it as CSV, save its filters.
import Button from "@cloudscape-design/components/button";
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { useLocation } from "react-router";
import { useChange } from "../../api/queries.ts";
import { ConfirmDialog } from "../../components/confirm-dialog.tsx";
import { useDownload } from "../../components/download.ts";
import { useNotifications } from "../../components/notifications.tsx";
import { useLanguage } from "../../language/language.tsx";
import { useFlag, useMay, useMayChange } from "../me.ts";
import type { Period } from "./period.tsx";

export type ReportBy = "account" | "group" | "tag" | "crosstag";

interface ReportActionsProps {
  by: ReportBy;
  period: Period;
  parameters: Record<string, string>;
}

export function ReportActions({ by, period, parameters }: ReportActionsProps) {
  const { t } = useLingui();
  const flag = useFlag();
  const may = useMay();
  const mayChange = useMayChange();
  const download = useDownload();
  const { language } = useLanguage();
  const [saving, setSaving] = useState(false);
  return (
    <>
      <SpaceBetween direction="horizontal" size="xs">
        {flag("report_filters") && mayChange("ReadAccount") && (
          <Button onClick={() => setSaving(true)}>
            <Trans>Save as filter</Trans>
          </Button>
        )}
        {flag("usage_report_download") && may("DownloadReports") && (
          <Button
            iconName="download"
            loading={download.isPending}
            ariaLabel={t`Download the report as CSV`}
            onClick={() =>
              download.mutate({
                address: "/m/portal/usage/report",
                name: `usage-${by}.csv`,
                query: { by, ...period.query, ...parameters, language },
              })
            }
          >
            <Trans>Report (CSV)</Trans>
          </Button>
        )}
      </SpaceBetween>
      {saving && <SaveFilterDialog onEnd={() => setSaving(false)} />}
    </>
  );
}

/** The filter is the address of the page with its period, tags and search. */
function SaveFilterDialog({ onEnd }: { onEnd: () => void }) {
  const { t } = useLingui();
  const { pathname, search } = useLocation();
  const { notify } = useNotifications();
  const [name, setName] = useState("");
  const save = useChange(
    (client) =>
      client.post("/m/portal/filters", {
        body: { name: name.trim(), content: { path: pathname, search } },
      }),
    {
      onSuccess: () => {
        notify({ type: "success", content: t`The filter was saved.` });
        onEnd();
      },
    },
  );
  return (
    <ConfirmDialog
      title={t`Save as filter`}
      action={t`Save`}
      busy={save.isPending}
      error={save.error}
      ready={name.trim() !== ""}
      onConfirm={() => save.mutate(undefined)}
      onCancel={onEnd}
    >
      <FormField
        label={t`Name`}
        description={t`Keeps the report with its period, tags and search for you alone.`}
      >
        <Input value={name} autoComplete={false} onChange={({ detail }) => setName(detail.value)} />
      </FormField>
    </ConfirmDialog>
  );
}
