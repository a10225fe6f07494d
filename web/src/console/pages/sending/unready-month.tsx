// Warns before invoices are sent that leave something out or have to be created again.
import Alert from "@cloudscape-design/components/alert";
import { Trans, useLingui } from "@lingui/react/macro";
import { useApi } from "../../../api/queries.ts";
import { RouterLink } from "../../../components/router-link.tsx";
import { useMe } from "../../me.ts";
import { useBlockerText } from "../month/blocker-text.ts";
import { listNewBlockers } from "../month/shown-blockers.ts";
import type { StepName } from "../month/step-texts.ts";

const CHECKED: readonly StepName[] = ["placed", "decided", "created", "checked"];

/** Nothing for people who see some customers only: they do not see the steps of the month. */
export function UnreadyMonth({ month, vendor }: { month: string; vendor: string }) {
  const { t } = useLingui();
  const blockerText = useBlockerText();
  const me = useMe().data;
  const { data: status } = useApi(
    "/m/core/months/{month}",
    { path: { month }, query: { vendor } },
    { enabled: me?.billing_groups === null },
  );
  if (status === undefined || !status.has_invoices) return null;
  const steps = status.steps.filter(({ step }) => CHECKED.includes(step));
  const sentences = steps.flatMap((step) =>
    listNewBlockers(steps, step).map((blocker) => blockerText(blocker, status, step.step).text),
  );
  if (status.state === "closed" || sentences.length === 0) return null;
  return (
    <Alert
      type="warning"
      header={t`Look at this before you send the invoices`}
      action={
        <RouterLink to={`/months/${month}/${vendor}`}>
          <Trans>See the steps of the month</Trans>
        </RouterLink>
      }
    >
      <ul>
        {sentences.map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
      <Trans>A sent invoice does not change any more: credit notes correct it.</Trans>
    </Alert>
  );
}
