// What blocks a step, as a sentence with the page where it can be solved.
import { plural } from "@lingui/core/macro";
import { useLingui } from "@lingui/react/macro";
import type { components } from "../../../api/schema.ts";
import type { MonthStatus } from "./month-page.tsx";
import type { StepName } from "./step-texts.ts";

type Blocker = components["schemas"]["StepBlocker"];

export function useBlockerText(): (
  blocker: Blocker,
  status: MonthStatus,
  step?: StepName,
) => { text: string; path?: string } {
  const { t } = useLingui();
  return ({ reason, subjects }, { month, vendor }, step) => {
    const count = subjects.length;
    const imports = `/imports?month=${month}&vendor=${vendor}`;
    const invoices = `/invoices/${month}?vendor=${vendor}`;
    switch (reason) {
      case "no_costs":
        return { text: t`No costs have arrived.`, path: imports };
      case "import_parked":
        return { text: t`An import is on hold and waits for a decision.`, path: imports };
      case "import_running":
        return { text: t`An import is running.`, path: imports };
      case "drift_uncorrected":
        return { text: t`The vendor's costs differ from what was invoiced.`, path: imports };
      case "account_in_no_group":
        return {
          text: t`${plural(count, { one: "# account belongs", other: "# accounts belong" })} to no billing group.`,
          path: `/accounts?unassigned=true&vendor=${vendor}&month=${month}`,
        };
      case "entry_undecided":
        return {
          text: t`${plural(count, { one: "# entry is", other: "# entries are" })} undecided.`,
          path: `/entries?month=${month}&vendor=${vendor}`,
        };
      case "run_in_progress":
        return { text: t`Invoices are being created.` };
      case "settings_missing":
        return {
          text: t`${plural(count, { one: "# billing group has", other: "# billing groups have" })} no invoice terms.`,
          path: "/customers",
        };
      case "rate_missing":
        return {
          text: t`${plural(count, { one: "# billing group has", other: "# billing groups have" })} no exchange rate for this month.`,
        };
      case "no_invoices":
        return { text: t`No invoice has been created.` };
      case "invoice_missing":
        return {
          text: t`${plural(count, { one: "# billing group has", other: "# billing groups have" })} costs and no invoice.`,
          path: invoices,
        };
      case "invoices_outdated":
        return {
          text: t`${plural(count, { one: "# invoice has", other: "# invoices have" })} to be created again: the rate, terms, memo or items were changed afterwards.`,
          path: invoices,
        };
      case "invoices_unapproved":
        return {
          text: t`${plural(count, { one: "# invoice is", other: "# invoices are" })} not approved yet.`,
          path: "/approvals?state=requested",
        };
      case "invoices_unsent":
        return {
          text: t`${plural(count, { one: "# invoice is", other: "# invoices are" })} not sent yet.`,
          path: `/sending/${month}/${vendor}`,
        };
      case "month_not_over":
        return { text: t`The month is not over.` };
      case "month_closed":
        return { text: t`The month is closed.` };
      default: // a difference between invoices and costs
        if (step === "created")
          return {
            text: t`${plural(count, { one: "# invoice has", other: "# invoices have" })} to be created again: costs, accounts or entries were changed afterwards.`,
            path: `/checks/${month}/${vendor}`,
          };
        return {
          text: t`Invoices and costs differ for ${plural(count, { one: "# billing group", other: "# billing groups" })}.`,
          path: `/checks/${month}/${vendor}`,
        };
    }
  };
}
