// The settings as the form holds them, and the change that the service is sent.
import type { BodyOf } from "../../../api/client.ts";
import { exactNumber, isDecimalNumber } from "../../../api/exact-json.ts";
import type { components } from "../../../api/schema.ts";
import { fromPercent, toPercent } from "../../../components/percent.ts";

export type Settings = components["schemas"]["OrganisationSettings"];
type Change = BodyOf<"put", "/m/core/settings">;

type ApprovalKind = components["schemas"]["ApprovalKind"];

export interface BandFields {
  /** The last band has no limit. */
  upto: string;
  percent: string;
}

export interface SettingsForm {
  language: "ja" | "en";
  timeZone: string;
  vendors: string[];
  /** The names of a vendor in FOCUS files, separated by commas. */
  providerNames: Record<string, string>;
  rounding: "half_up" | "down" | "up";
  bands: BandFields[];
  changeLimit: string;
  marginLimit: string;
  costTagKey: string;
  reportTagKeys: string[];
  templateId: string;
  updateMode: "stated" | "either";
  agentRole: string;
  portalName: string;
  portalColour: string;
  portalPayments: boolean;
  portalInvoices: "created" | "sent";
  replyTo: string;
  staffFactor: boolean;
  customerFactor: boolean;
  approvalKinds: ApprovalKind[];
}

export function readForm(settings: Settings): SettingsForm {
  return {
    language: settings.language ?? "ja",
    timeZone: settings.time_zone,
    vendors: settings.vendors ?? [],
    providerNames: Object.fromEntries(
      Object.entries(settings.provider_names ?? {}).map(([vendor, names]) => [
        vendor,
        names.join(", "),
      ]),
    ),
    rounding: settings.rounding ?? "half_up",
    bands: (settings.usage_table ?? []).map(({ upto, rate }) => ({
      upto: upto === null ? "" : String(upto),
      percent: toPercent(rate),
    })),
    changeLimit: toSignedPercent(settings.check_change_limit ?? "0.3"),
    marginLimit: toSignedPercent(settings.check_margin_limit ?? 0),
    costTagKey: settings.cost_tag_key ?? "",
    reportTagKeys: settings.report_tag_keys ?? [],
    templateId: settings.invoice_template_id ?? "",
    updateMode: settings.invoice_setting_update ?? "stated",
    agentRole: settings.agent_role_arn ?? "",
    portalName: settings.portal_name ?? "",
    portalColour: settings.portal_colour ?? "",
    portalPayments: settings.portal_shows_payments ?? false,
    portalInvoices: settings.portal_invoices ?? "created",
    replyTo: settings.invoice_reply_to ?? "",
    staffFactor: settings.staff_needs_second_factor ?? false,
    customerFactor: settings.customers_need_second_factor ?? false,
    approvalKinds: settings.approval_required ?? [],
  };
}

/** What differs from the saved settings. Absent fields stay as they are. */
export function buildChange(form: SettingsForm, saved: SettingsForm): Change {
  const all: Record<keyof SettingsForm, () => Change> = {
    language: () => ({ language: form.language }),
    timeZone: () => ({ time_zone: form.timeZone }),
    vendors: () => ({ vendors: form.vendors }),
    providerNames: () => ({ provider_names: splitNames(form) }),
    rounding: () => ({ rounding: form.rounding }),
    bands: () => ({
      usage_table: form.bands.map(({ upto, percent }, index) => ({
        upto: index === form.bands.length - 1 ? null : exactNumber(upto),
        rate: exactNumber(fromPercent(percent) ?? ""),
      })),
    }),
    changeLimit: () => ({ check_change_limit: exactNumber(fromSignedPercent(form.changeLimit)) }),
    marginLimit: () => ({ check_margin_limit: exactNumber(fromSignedPercent(form.marginLimit)) }),
    costTagKey: () => ({ cost_tag_key: form.costTagKey.trim() }),
    reportTagKeys: () => ({ report_tag_keys: form.reportTagKeys }),
    templateId: () => ({ invoice_template_id: form.templateId }),
    updateMode: () => ({ invoice_setting_update: form.updateMode }),
    agentRole: () => ({ agent_role_arn: form.agentRole.trim() }),
    portalName: () => ({ portal_name: form.portalName.trim() }),
    portalColour: () => ({ portal_colour: form.portalColour.trim() }),
    portalPayments: () => ({ portal_shows_payments: form.portalPayments }),
    portalInvoices: () => ({ portal_invoices: form.portalInvoices }),
    replyTo: () => ({ invoice_reply_to: form.replyTo.trim() }),
    staffFactor: () => ({ staff_needs_second_factor: form.staffFactor }),
    customerFactor: () => ({ customers_need_second_factor: form.customerFactor }),
    approvalKinds: () => ({ approval_required: form.approvalKinds }),
  };
  const changed = (Object.keys(all) as (keyof SettingsForm)[]).filter(
    (name) => JSON.stringify(form[name]) !== JSON.stringify(saved[name]),
  );
  return Object.assign({}, ...changed.map((name) => all[name]()));
}

/** A vendor that is no longer billed has no names either. */
function splitNames(form: SettingsForm): Record<string, string[]> {
  const entries = Object.entries(form.providerNames).map(([vendor, text]) => {
    const names = text.split(",").map((name) => name.trim());
    return [vendor, names.filter((name) => name !== "")] as const;
  });
  return Object.fromEntries(
    entries.filter(([vendor, names]) => form.vendors.includes(vendor) && names.length > 0),
  );
}

/** The fields that hold something else than a number. */
export function findBadNumbers(form: SettingsForm): (keyof SettingsForm)[] {
  const bad: (keyof SettingsForm)[] = [];
  const last = form.bands.length - 1;
  const isBand = ({ upto, percent }: BandFields, index: number) =>
    fromPercent(percent) !== undefined && (index === last || isDecimalNumber(upto));
  if (!form.bands.every(isBand)) bad.push("bands");
  if (fromSignedPercent(form.changeLimit) === "") bad.push("changeLimit");
  if (fromSignedPercent(form.marginLimit) === "") bad.push("marginLimit");
  return bad;
}

function toSignedPercent(share: number | string): string {
  const text = String(share);
  return text.startsWith("-") ? `-${toPercent(text.slice(1))}` : toPercent(text);
}

function fromSignedPercent(text: string): string {
  const typed = text.trim();
  if (!typed.startsWith("-")) return fromPercent(typed) ?? "";
  const share = fromPercent(typed.slice(1));
  return share === undefined ? "" : `-${share}`;
}
