// Deletes a project after its code was typed.
import { Trans, useLingui } from "@lingui/react/macro";
import { useChange } from "../../../api/queries.ts";
import { ConfirmDialog } from "../../../components/confirm-dialog.tsx";
import { useNotifications } from "../../../components/notifications.tsx";
import type { ProjectProfit } from "./projects-page.tsx";

interface DeleteProjectDialogProps {
  project: ProjectProfit;
  onEnd: () => void;
}

export function DeleteProjectDialog({ project, onEnd }: DeleteProjectDialogProps) {
  const { t } = useLingui();
  const { notify } = useNotifications();
  const code = project.project_code;
  const remove = useChange(
    (client) =>
      client.delete("/m/core/project/{project_id_or_month}", {
        path: { project_id_or_month: project.project_id },
      }),
    {
      onSuccess: () => {
        notify({ type: "success", content: t`The project ${code} was deleted.` });
        onEnd();
      },
    },
  );
  return (
    <ConfirmDialog
      title={t`Delete the project ${code}`}
      word={code}
      action={t`Delete`}
      busy={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate(undefined)}
      onCancel={onEnd}
    >
      <Trans>The project disappears from this list. Its customers and their invoices stay.</Trans>
    </ConfirmDialog>
  );
}
