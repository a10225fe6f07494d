// The list of pages; a page is shown to people who may read it.
import { useLingui } from "@lingui/react/macro";
import { useMay, useMe } from "./me.ts";

interface PageEntry {
  path: string;
  title: string;
  /** Any one of these role actions opens the page; `ANYBODY` opens it to all. */
  actions: readonly string[];
  /** The page concerns all customers, so people who see only some of them cannot open it. */
  whole?: boolean;
}

interface PageGroup {
  title: string;
  pages: PageEntry[];
}

/** Everybody manages their own. */
const ANYBODY: readonly string[] = [];

/** Those who may approve, and those who may request something. */
const APPROVERS_AND_REQUESTERS = [
  "ApproveRequests",
  "ModifyInvoice",
  "ModifyCost",
  "ModifySettings",
  "ModifyBillingGroup",
];

export function useNavigationItems(): PageGroup[] {
  const { t } = useLingui();
  const may = useMay();
  const restricted = (useMe().data?.billing_groups ?? null) !== null;
  const isShown = ({ actions, whole }: PageEntry) =>
    (actions === ANYBODY || may(...actions)) && !(whole && restricted);
  const groups: PageGroup[] = [
    {
      title: t`Billing`,
      pages: [
        {
          path: "/months",
          title: t`Months`,
          actions: ["ReadInvoice", "ModifyInvoice"],
          whole: true,
        },
        { path: "/checks", title: t`Checks`, actions: ["ReadInvoice", "ModifyInvoice"] },
        { path: "/invoices", title: t`Invoices`, actions: ["ReadInvoice", "ModifyInvoice"] },
        { path: "/receivables", title: t`Receivables`, actions: ["ReadInvoice", "ModifyInvoice"] },
        { path: "/projects", title: t`Projects`, actions: ["ReadProject", "ModifyProject"] },
        { path: "/approvals", title: t`Approvals`, actions: APPROVERS_AND_REQUESTERS },
        { path: "/archive", title: t`Archive`, actions: ["ReadInvoice", "ModifyInvoice"] },
      ],
    },
    {
      title: t`Master data`,
      pages: [
        {
          path: "/customers",
          title: t`Customers`,
          actions: ["ReadBillingGroup", "ModifyBillingGroup"],
        },
        {
          path: "/templates",
          title: t`Invoice templates`,
          actions: ["ReadBillingGroup", "ModifyBillingGroup"],
        },
      ],
    },
    {
      title: t`Costs`,
      pages: [
        { path: "/imports", title: t`Imports`, actions: ["ReadCost", "ModifyCost"] },
        { path: "/accounts", title: t`Accounts`, actions: ["ReadAccount", "ModifyAccount"] },
        {
          path: "/entries",
          title: t`One-off entries`,
          actions: ["ReadBillingGroup", "ModifyBillingGroup"],
        },
        { path: "/reservations", title: t`Reserved instances`, actions: ["ReadRi", "ModifyRi"] },
      ],
    },
    {
      title: t`Administration`,
      pages: [
        { path: "/people", title: t`People`, actions: ["ReadUsers", "ModifyUsers"] },
        { path: "/roles", title: t`Roles`, actions: ["ReadRoles", "ModifyRoles"] },
        { path: "/api-clients", title: t`API clients`, actions: ANYBODY },
        {
          path: "/webhooks",
          title: t`Webhooks`,
          actions: ["ReadSettings", "ModifySettings"],
          whole: true,
        },
        { path: "/audit", title: t`Audit log`, actions: ["ReadAudit"] },
        { path: "/settings", title: t`Settings`, actions: ["ReadSettings", "ModifySettings"] },
      ],
    },
  ];
  return groups
    .map((group) => ({
      ...group,
      pages: group.pages.filter(isShown),
    }))
    .filter((group) => group.pages.length > 0);
}
