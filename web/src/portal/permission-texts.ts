// The role actions of the portal as sentences.
import { useLingui } from "@lingui/react/macro";

export const ADMIN = "Admin";

/** What each role action allows. */
export function usePermissionTexts(): Readonly<Record<string, string>> {
  const { t } = useLingui();
  return {
    [ADMIN]: t`may do everything`,
    ReadAccount: t`may see usage by account, fees and the dashboard`,
    ReadGroups: t`may see usage by account group`,
    ModifyGroups: t`may create, change and delete account groups`,
    ReadTags: t`may see usage by tag`,
    ReadInvoice: t`may see and download invoices`,
    ReadRi: t`may see reservations and savings plans`,
    DownloadReports: t`may download reports`,
    ReadBudget: t`may see budgets`,
    ModifyBudget: t`may change budgets and their alerts`,
    ModifySettings: t`may rename accounts`,
    ReadUsers: t`may read the list of people`,
    ModifyUsers: t`may add and delete people and reset their passwords`,
    ReadRoles: t`may read roles and who has them`,
    ModifyRoles: t`may change roles and give them to people`,
    ModifyApiClients: t`may create and delete other people's API clients`,
  };
}
