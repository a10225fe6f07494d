// What a customer sees in the portal, in groups; each flag has a sentence.
import { useLingui } from "@lingui/react/macro";

export interface FlagGroup {
  title: string;
  flags: { name: string; text: string }[];
}

/** Flags of pages that do not exist are left out and keep their value. */
export function usePortalFlags(): FlagGroup[] {
  const { t } = useLingui();
  return [
    {
      title: t`Invoices`,
      flags: [
        { name: "invoice", text: t`Sees and downloads invoices.` },
        {
          name: "invoice_download_csv_discount",
          text: t`Downloads the details of the discount as CSV.`,
        },
        {
          name: "invoice_download_csv_merged",
          text: t`Downloads the invoices of all vendors together as CSV.`,
        },
      ],
    },
    {
      title: t`Usage`,
      flags: [
        { name: "dashboard_graph", text: t`Sees the chart of the dashboard.` },
        { name: "usage_account", text: t`Sees usage by account.` },
        { name: "usage_account_graph", text: t`Sees the chart of usage by account.` },
        { name: "usage_group", text: t`Sees usage by group of accounts.` },
        { name: "usage_group_graph", text: t`Sees the chart of usage by group.` },
        { name: "usage_tag", text: t`Sees usage by tag.` },
        { name: "usage_tag_graph", text: t`Sees the chart of usage by tag.` },
        { name: "usage_crosstag", text: t`Sees usage by two tags.` },
        { name: "usage_crosstag_graph", text: t`Sees the chart of usage by two tags.` },
        { name: "usage_report_download", text: t`Downloads usage reports.` },
        { name: "report_filters", text: t`Saves filters of reports.` },
      ],
    },
    {
      title: t`Details of an account`,
      flags: [
        { name: "usage_account_menu_fees_fee", text: t`Sees one-off fees.` },
        { name: "usage_account_menu_fees_credit", text: t`Sees credits.` },
        { name: "usage_account_menu_fees_refund", text: t`Sees refunds.` },
        { name: "usage_account_menu_fees_other_fees", text: t`Sees other fees.` },
        { name: "usage_account_menu_account_edit", text: t`Changes the names of accounts.` },
      ],
    },
    {
      title: t`Budgets`,
      flags: [
        { name: "usage_account_menu_budget", text: t`Sees the budget of an account.` },
        { name: "usage_account_menu_budget_edit", text: t`Changes the budget of an account.` },
        { name: "budgetalerts", text: t`Is told when a budget is exceeded.` },
      ],
    },
    {
      title: t`Reservations`,
      flags: [
        { name: "ri_purchased", text: t`Sees purchased reserved instances.` },
        { name: "ri_utilization", text: t`Sees how much reserved instances are used.` },
        { name: "ri_recommendation", text: t`Sees recommended reserved instances.` },
        { name: "sp_purchased", text: t`Sees purchased savings plans.` },
      ],
    },
    {
      title: t`Administration`,
      flags: [
        { name: "users_management", text: t`Adds users of their own.` },
        { name: "open_api", text: t`Creates API access tokens.` },
      ],
    },
  ];
}
