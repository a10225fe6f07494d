// The fields of a customer as the form shows them.
import type { BodyOf } from "../../../api/client.ts";
import type { BillingGroup } from "./customer-page.tsx";

export interface CustomerForm {
  billinggroup_id: string;
  billinggroup_name: string;
  company_name: string;
  personal: string;
  billing_title: string;
  postal: string;
  address: string;
  phone: string;
  remarks: string;
  language: "" | "ja" | "en";
  project_id: string;
  inv_aggregate: boolean;
}

export const NEW_CUSTOMER: CustomerForm = {
  billinggroup_id: "",
  billinggroup_name: "",
  company_name: "",
  personal: "",
  billing_title: "",
  postal: "",
  address: "",
  phone: "",
  remarks: "",
  language: "",
  project_id: "",
  inv_aggregate: false,
};

export function readCustomer(group: BillingGroup): CustomerForm {
  return {
    billinggroup_id: group.billinggroup_id,
    billinggroup_name: group.billinggroup_name,
    company_name: group.name,
    personal: group.contact ?? "",
    billing_title: group.title ?? "",
    postal: group.postal ?? "",
    address: group.address ?? "",
    phone: group.phone ?? "",
    remarks: group.remarks ?? "",
    language: group.language ?? "",
    project_id: group.project_id ?? "",
    inv_aggregate: group.inv_aggregate,
  };
}

/** The body that creates the customer: what is empty is not sent. */
export function writeNewCustomer(form: CustomerForm): BodyOf<"post", "/m/core/billinggroup"> {
  const { billinggroup_id, billinggroup_name, company_name, inv_aggregate, language, ...texts } =
    form;
  return {
    billinggroup_id,
    billinggroup_name,
    company_name,
    inv_aggregate,
    ...Object.fromEntries(Object.entries(texts).filter(([, value]) => value.trim() !== "")),
    ...(language !== "" && { language }),
  };
}
