// The names of a customer's fields.
import { useLingui } from "@lingui/react/macro";
import type { CustomerForm } from "./customer-form.ts";

export function useCustomerLabels(): Record<keyof CustomerForm, string> {
  const { t } = useLingui();
  return {
    billinggroup_id: t`Customer id`,
    billinggroup_name: t`Billing group name`,
    company_name: t`Company name`,
    personal: t`Addressee`,
    billing_title: t`Title of the invoice`,
    postal: t`Postal code`,
    address: t`Address`,
    phone: t`Telephone`,
    remarks: t`Remarks`,
    language: t`Language of the invoice`,
    project_id: t`Project`,
    inv_aggregate: t`Several vendors`,
  };
}
