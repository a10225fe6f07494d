// The names of a template's fields.
import { useLingui } from "@lingui/react/macro";
import type { TemplateForm } from "./template-form.ts";

export function useTemplateLabels(): Record<keyof TemplateForm, string> {
  const { t } = useLingui();
  return {
    name: t`Name of the template`,
    company: t`Issuer`,
    registration_number: t`Registration number`,
    postal: t`Postal code`,
    address: t`Address`,
    phone: t`Telephone`,
    contact: t`Contact`,
    bank_account: t`Bank account`,
    notes: t`Notes`,
    due: t`Due date`,
    due_days: t`Days after the issue`,
    accent_colour: t`Colour`,
  };
}
