// Role actions as sentences, by the part of the work that they belong to.
import { useLingui } from "@lingui/react/macro";

export interface PermissionArea {
  title: string;
  /** Role actions and what each allows. */
  sentences: Readonly<Record<string, string>>;
}

export const ADMIN = "Admin";

/** What the role actions of billing administration allow. Changing includes reading. */
export function usePermissionAreas(): PermissionArea[] {
  const { t } = useLingui();
  return [
    {
      title: t`Invoices`,
      sentences: {
        ReadInvoice: t`may read invoices and the state of a month`,
        ModifyInvoice: t`may create invoices, save exchange rates and close months`,
      },
    },
    {
      title: t`Customers and terms`,
      sentences: {
        ReadBillingGroup: t`may read customers, their terms and templates`,
        ModifyBillingGroup: t`may change customers, their terms, templates and entries`,
      },
    },
    {
      title: t`Accounts`,
      sentences: {
        ReadAccount: t`may read cloud accounts`,
        ModifyAccount: t`may add cloud accounts and assign them to customers`,
      },
    },
    {
      title: t`Costs`,
      sentences: {
        ReadCost: t`may read costs and imports`,
        ModifyCost: t`may import cost files and release imports on hold`,
      },
    },
    {
      title: t`Reserved instances`,
      sentences: {
        ReadRi: t`may read reserved instances`,
        ModifyRi: t`may move reserved instances and return them`,
      },
    },
    {
      title: t`Projects`,
      sentences: {
        ReadProject: t`may read projects and their profit`,
        ModifyProject: t`may create and change projects`,
      },
    },
    {
      title: t`Portal logins`,
      sentences: {
        ReadReseller: t`may read the customers' portal logins`,
        ModifyReseller: t`may create and change the customers' portal logins`,
      },
    },
    {
      title: t`People and roles`,
      sentences: {
        ReadUsers: t`may read the list of people`,
        ModifyUsers: t`may add and delete people and reset their passwords`,
        ReadRoles: t`may read roles and who has them`,
        ModifyRoles: t`may change roles and give them to people`,
        ModifyApiClients: t`may create and delete other people's API clients`,
      },
    },
    {
      title: t`Organisation`,
      sentences: {
        ReadSettings: t`may read the settings of the organisation`,
        ModifySettings: t`may change the settings of the organisation`,
        ReadAudit: t`may read the audit log`,
        ApproveRequests: t`may approve what others have requested`,
        ReadDeployment: t`may read deployments`,
        ModifyDeployment: t`may delete deployments`,
      },
    },
  ];
}

/** Those of the role actions that a sentence describes, area by area. */
export function selectSentences(
  areas: readonly PermissionArea[],
  actions: readonly string[],
): { title: string; sentences: string[] }[] {
  return areas
    .map(({ title, sentences }) => ({
      title,
      sentences: Object.entries(sentences)
        .filter(([action]) => actions.includes(action))
        .map(([, sentence]) => sentence),
    }))
    .filter(({ sentences }) => sentences.length > 0);
}
