// Shows the invoices that are being created, also after a reload.
import Alert from "@cloudscape-design/components/alert";
import ProgressBar from "@cloudscape-design/components/progress-bar";
import { useLingui } from "@lingui/react/macro";
import { useApi } from "../../../api/queries.ts";

const RUNNING = ["queued", "running"];

export function RunProgress({ month, vendor }: { month: string; vendor: string }) {
  const { t } = useLingui();
  const runs = useApi(
    "/m/core/invoices/runs/{month}",
    { path: { month } },
    { refetchInterval: (query) => (query.state.data?.some(isRunning) ? 1_000 : 15_000) },
  );
  const running = runs.data?.find((run) => run.vendor === vendor && isRunning(run));
  if (running === undefined) return null;
  return (
    <Alert type="info">
      <ProgressBar
        label={t`Invoices are being created`}
        value={running.groups === 0 ? 0 : Math.floor((100 * running.done) / running.groups)}
        additionalInfo={t`${running.done} of ${running.groups} billing groups`}
      />
    </Alert>
  );
}

function isRunning(run: { state: string }): boolean {
  return RUNNING.includes(run.state);
}
