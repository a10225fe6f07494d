// The list of pages; a page is shown if the reseller enables it and the person's roles allow it.
import { useLingui } from "@lingui/react/macro";
import { useFlag, useMay, useMe } from "./me.ts";

interface PageEntry {
  path: string;
  title: string;
  /** Any one of these display flags enables the page. */
  flags: readonly string[];
  /** Any one of these role actions opens the page. */
  actions: readonly string[];
  /** The page concerns the whole company, so people who see only a part of it cannot open it. */
  whole?: boolean;
}

interface PageGroup {
  title: string;
  pages: PageEntry[];
}

export const FEE_FLAGS = {
  fee: "usage_account_menu_fees_fee",
  credit: "usage_account_menu_fees_credit",
  refund: "usage_account_menu_fees_refund",
  other: "usage_account_menu_fees_other_fees",
} as const;

export function useNavigationItems(): PageGroup[] {
  const flag = useFlag();
  const may = useMay();
  const filtered = useMe().data?.filtered ?? true;
  const isShown = (page: PageEntry) =>
    flag(...page.flags) && may("Admin", ...page.actions) && !(page.whole && filtered);
  return useAllPages()
    .map((group) => ({ ...group, pages: group.pages.filter(isShown) }))
    .filter((group) => group.pages.length > 0);
}

function useAllPages(): PageGroup[] {
  const { t } = useLingui();
  const fees = Object.values(FEE_FLAGS);
  const commitments = ["ri_purchased", "ri_utilization", "ri_recommendation", "sp_purchased"];
  const people = ["ReadUsers", "ModifyUsers"];
  return [
    {
      title: t`Overview`,
      pages: [
        entry("/dashboard", t`Dashboard`, ["dashboard_graph"], ["ReadAccount"]),
        entry("/invoices", t`Invoices`, ["invoice"], ["ReadInvoice"], true),
      ],
    },
    {
      title: t`Usage`,
      pages: [
        entry("/accounts", t`By account`, ["usage_account"], ["ReadAccount"]),
        entry("/groups", t`By account group`, ["usage_group"], ["ReadGroups"]),
        entry("/tags", t`By tag`, ["usage_tag"], ["ReadTags"]),
        entry("/tag-pairs", t`By two tags`, ["usage_crosstag"], ["ReadTags"]),
        entry("/fees", t`Fees and credits`, fees, ["ReadAccount"]),
        entry("/downloads", t`Downloads`, ["usage_report_download"], ["DownloadReports"]),
        entry("/filters", t`Saved filters`, ["report_filters"], ["ReadAccount"]),
      ],
    },
    {
      title: t`Control`,
      pages: [
        entry("/budgets", t`Budgets`, ["usage_account_menu_budget"], ["ReadBudget"]),
        entry("/anomalies", t`Unusual costs`, ["usage_account"], ["ReadAccount"]),
        entry("/commitments", t`Reservations and savings plans`, commitments, ["ReadRi"]),
      ],
    },
    {
      title: t`Administration`,
      pages: [
        entry("/account-groups", t`Account groups`, ["usage_group"], ["ReadGroups"]),
        entry("/people", t`People`, ["users_management"], people),
        entry("/roles", t`Roles`, ["users_management"], ["ReadRoles", "ModifyRoles"]),
        entry("/api-clients", t`API clients`, ["open_api"], ["ModifyApiClients"]),
      ],
    },
  ];
}

function entry(
  path: string,
  title: string,
  flags: readonly string[],
  actions: readonly string[],
  whole = false,
): PageEntry {
  return { path, title, flags, actions, whole };
}
