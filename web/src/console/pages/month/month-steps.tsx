// The list of steps: state, who did it when, what blocks it, and one action.
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import SpaceBetween from "@cloudscape-design/components/space-between";
import StatusIndicator, {
  type StatusIndicatorProps,
} from "@cloudscape-design/components/status-indicator";
import { Trans, useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { useNavigate } from "react-router";
import type { components } from "../../../api/schema.ts";
import { formatTime } from "../../../components/month.ts";
import { RouterLink } from "../../../components/router-link.tsx";
import { useLanguage } from "../../../language/language.tsx";
import { useMay } from "../../me.ts";
import { useBlockerText } from "./blocker-text.ts";
import { CloseMonthDialog } from "./close-month-dialog.tsx";
import { CreateInvoicesDialog } from "./create-invoices-dialog.tsx";
import { ExchangeRateDialog } from "./exchange-rate-dialog.tsx";
import type { MonthStatus } from "./month-page.tsx";
import { findNextStep } from "./next-step.ts";
import { useRateText } from "./rate-text.ts";
import { ReopenMonthDialog } from "./reopen-month-dialog.tsx";
import { RequestInvoicesDialog } from "./request-invoices-dialog.tsx";
import { listBlockingSteps, listNewBlockers } from "./shown-blockers.ts";
import { type StepName, useStepTexts } from "./step-texts.ts";
import "./month-steps.css";

type Step = components["schemas"]["MonthStep"];
type StepState = Step["state"];

const LACKING_INVOICES = ["no_invoices", "invoice_missing"];

const INDICATORS: Record<StepState, StatusIndicatorProps.Type> = {
  done: "success",
  ready: "in-progress",
  blocked: "stopped",
  not_needed: "not-started",
};

export function MonthSteps({ status }: { status: MonthStatus }) {
  // The last two steps concern months that changed after they were closed.
  const shown = status.steps.filter(
    (step) => !["drifted", "corrected"].includes(step.step) || step.state !== "not_needed",
  );
  return (
    <ol className="month-steps">
      {shown.map((step) => (
        <li key={step.step} className="month-step">
          <StepRow step={step} status={status} />
        </li>
      ))}
    </ol>
  );
}

function StepRow({ step, status }: { step: Step; status: MonthStatus }) {
  const { t } = useLingui();
  const { language } = useLanguage();
  const { title, explanation } = useStepTexts()[step.step];
  const rates = useRateText()(status.exchange_rates);
  const states: Record<StepState, string> = {
    done: t`Done`,
    ready: t`To do`,
    blocked: t`Blocked`,
    not_needed: t`Not needed`,
  };
  return (
    <div className="month-step-row">
      <div className="month-step-state">
        <StatusIndicator type={INDICATORS[step.state]}>{states[step.state]}</StatusIndicator>
      </div>
      <div className="month-step-text">
        <Box variant="h3" padding="n">
          {title}
        </Box>
        <Box color="text-body-secondary">{explanation}</Box>
        {step.step === "rates" && rates !== "" && <Box>{rates}</Box>}
        <Blockers step={step} status={status} />
        {step.done_time !== null && (
          <Box variant="small" color="text-body-secondary">
            {step.done_by === null ? (
              <Trans>{formatTime(step.done_time, language)}</Trans>
            ) : (
              <Trans>
                {formatTime(step.done_time, language)} by {step.done_by}
              </Trans>
            )}
          </Box>
        )}
      </div>
      <div className="month-step-action">
        <StepAction step={step} status={status} />
      </div>
    </div>
  );
}

function Blockers({ step, status }: { step: Step; status: MonthStatus }) {
  const blockerText = useBlockerText();
  if (step.state === "not_needed" || step.blockers.length === 0) return null;
  const shown = listNewBlockers(status.steps, step);
  if (shown.length === 0) return <EarlierSteps step={step} status={status} />;
  return (
    <ul className="month-step-blockers">
      {shown.map((blocker) => {
        const { text, path } = blockerText(blocker, status, step.step);
        return (
          <li key={blocker.reason}>
            {path === undefined ? text : <RouterLink to={path}>{text}</RouterLink>}
          </li>
        );
      })}
    </ul>
  );
}

/** Names the steps above that say what is missing. */
function EarlierSteps({ step, status }: { step: Step; status: MonthStatus }) {
  const { t } = useLingui();
  const { language } = useLanguage();
  const texts = useStepTexts();
  const names = listBlockingSteps(status.steps, step).map((name) => t`“${texts[name].title}”`);
  const listed = new Intl.ListFormat(language, { type: "conjunction" }).format(names);
  return <Box>{t`This comes first: ${listed}.`}</Box>;
}

type Dialog = "rate" | "create" | "request" | "close" | "reopen";

function StepAction({ step, status }: { step: Step; status: MonthStatus }) {
  const { t } = useLingui();
  const navigate = useNavigate();
  const may = useMay();
  const [dialog, setDialog] = useState<Dialog>();
  const { month, vendor } = status;
  const closed = status.state === "closed";
  const mayBill = may("ModifyInvoice");
  const open = (path: string) => () => navigate(path);
  // Invoices that were sent stay as they are, so nothing is left to create.
  const allSent = status.steps.some((each) => each.step === "sent" && each.state === "done");
  const isOver = step.state === "done" && allSent;
  const lacksInvoices = step.blockers.some(({ reason }) => LACKING_INVOICES.includes(reason));

  const actions: Partial<Record<StepName, { text: string; run: () => void; shown: boolean }>> = {
    arrived: {
      text: step.state === "done" ? t`See imports` : t`Import files`,
      run: open(`/imports?month=${month}&vendor=${vendor}`),
      shown: may("ReadCost", "ModifyCost"),
    },
    placed: {
      text: t`Assign accounts`,
      run: open(`/accounts?unassigned=true&vendor=${vendor}&month=${month}`),
      shown: may("ModifyAccount") && step.state !== "done",
    },
    decided: {
      text: step.state === "ready" && !closed ? t`Decide entries` : t`See entries`,
      run: open(`/entries?month=${month}&vendor=${vendor}`),
      shown: may("ReadBillingGroup", "ModifyBillingGroup"),
    },
    rates: {
      text: step.state === "done" ? t`Change the rate` : t`Enter the rate`,
      run: () => setDialog("rate"),
      shown: mayBill && !closed && !isOver && step.state !== "not_needed",
    },
    created: {
      text: lacksInvoices ? t`Create invoices` : t`Create again`,
      run: () => setDialog("create"),
      shown: mayBill && !closed && !isOver,
    },
    checked: {
      text: t`See checks`,
      run: open(`/checks/${month}/${vendor}`),
      shown: may("ReadInvoice", "ModifyInvoice"),
    },
    approved: {
      text: t`Request approval`,
      run: () => setDialog("request"),
      shown: mayBill && step.state === "ready",
    },
    sent: {
      text: step.state === "done" ? t`See mails` : t`Send invoices`,
      run: open(`/sending/${month}/${vendor}`),
      shown: may("ReadInvoice", "ModifyInvoice") && step.state !== "not_needed",
    },
    closed: closed
      ? { text: t`Reopen`, run: () => setDialog("reopen"), shown: mayBill }
      : { text: t`Close the month`, run: () => setDialog("close"), shown: mayBill },
    drifted: {
      text: t`See what changed`,
      run: open(`/imports?month=${month}&vendor=${vendor}`),
      shown: may("ReadCost", "ModifyCost"),
    },
  };
  const action = actions[step.step];
  const next = findNextStep(status.steps) === step.step;
  return (
    <SpaceBetween size="xs">
      {action?.shown && (
        <Button onClick={action.run} variant={next ? "primary" : "normal"}>
          {action.text}
        </Button>
      )}
      {dialog === "rate" && (
        <ExchangeRateDialog status={status} onEnd={() => setDialog(undefined)} />
      )}
      {dialog === "create" && (
        <CreateInvoicesDialog status={status} onEnd={() => setDialog(undefined)} />
      )}
      {dialog === "request" && (
        <RequestInvoicesDialog month={month} vendor={vendor} onEnd={() => setDialog(undefined)} />
      )}
      {dialog === "close" && (
        <CloseMonthDialog status={status} onEnd={() => setDialog(undefined)} />
      )}
      {dialog === "reopen" && (
        <ReopenMonthDialog month={month} vendor={vendor} onEnd={() => setDialog(undefined)} />
      )}
    </SpaceBetween>
  );
}
