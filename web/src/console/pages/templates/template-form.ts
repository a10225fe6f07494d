// The fields of an invoice template as the form shows them.
import type { components } from "../../../api/schema.ts";

export type InvoiceTemplate = components["schemas"]["InvoiceTemplateRecord"];
export type TemplateBody = components["schemas"]["InvoiceTemplateBody"];

export interface TemplateForm {
  name: string;
  company: string;
  registration_number: string;
  postal: string;
  address: string;
  phone: string;
  contact: string;
  bank_account: string;
  notes: string;
  due: "none" | "end_of_next_month" | "days";
  due_days: string;
  accent_colour: string;
}

export const NEW_TEMPLATE: TemplateForm = {
  name: "",
  company: "",
  registration_number: "",
  postal: "",
  address: "",
  phone: "",
  contact: "",
  bank_account: "",
  notes: "",
  due: "end_of_next_month",
  due_days: "30",
  accent_colour: "",
};

export function readTemplate(template: InvoiceTemplate): TemplateForm {
  return {
    name: template.name,
    company: template.company,
    registration_number: template.registration_number ?? "",
    postal: template.postal ?? "",
    address: template.address ?? "",
    phone: template.phone ?? "",
    contact: template.contact ?? "",
    bank_account: template.bank_account ?? "",
    notes: template.notes ?? "",
    due: template.due_rule ?? "none",
    due_days: String(template.due_days ?? 30),
    accent_colour: template.accent_colour ?? "",
  };
}

/** The body that saves the template: what is empty is absent. */
export function writeTemplate(form: TemplateForm): TemplateBody {
  const { name, company, due, due_days, ...texts } = form;
  return {
    name: name.trim(),
    company: company.trim(),
    ...Object.fromEntries(Object.entries(texts).filter(([, value]) => value.trim() !== "")),
    ...(due !== "none" && { due_rule: due }),
    ...(due === "days" && { due_days: /^\d{1,4}$/.test(due_days) ? Number(due_days) : null }),
  };
}
