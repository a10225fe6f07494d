// What the kinds of objects of the audit log are called.
import { useLingui } from "@lingui/react/macro";

export function useObjectTypes(): Readonly<Record<string, string>> {
  const { t } = useLingui();
  return {
    account_group: t`Account group`,
    acct: t`Account`,
    agent: t`Agent`,
    approval: t`Approval`,
    billinggroup: t`Customer`,
    budgets: t`Budgets`,
    container: t`Container`,
    costs: t`Costs`,
    deployment: t`Deployment`,
    export: t`Export`,
    invoice: t`Invoice`,
    invoices: t`Invoices`,
    invoicetemplate: t`Template`,
    legacy_role: t`Role of version 3`,
    legacy_user_role: t`Role of a person in version 3`,
    month: t`Month`,
    organisation: t`Organisation`,
    portal_logo: t`Logo of the portal`,
    portal_view: t`View of the portal`,
    project: t`Project`,
    recalculation: t`Entries`,
    reseller: t`Portal login`,
    ri: t`Reserved instance`,
    role: t`Role`,
    saved_filter: t`Saved filter`,
    "second-factor": t`Second factor`,
    session: t`Session`,
    settings: t`Settings`,
    stack: t`Stack`,
    user: t`Person`,
    userroles: t`Access of a person`,
    webhook: t`Webhook endpoint`,
  };
}
