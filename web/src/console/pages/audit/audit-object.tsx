// The object of a change, with a link to its page.
import { useLingui } from "@lingui/react/macro";
import { formatMonth } from "../../../components/month.ts";
import { RouterLink } from "../../../components/router-link.tsx";
import { formatVendor } from "../../../components/vendor.ts";
import { useLanguage } from "../../../language/language.tsx";
import type { AuditEntry } from "./audit-page.tsx";
import { readVendor } from "./entry-values.ts";
import { useObjectTypes } from "./object-texts.ts";

export interface ObjectLabel {
  text: string;
  /** The page of the object, if it has one. */
  path?: string;
}

const MONTH = /^\d{4}-\d{2}$/;

/** Reads a resource such as `billinggroup/cmp_1/invoices/aws`. */
export function useObjectLabel(): (entry: AuditEntry) => ObjectLabel {
  const { t } = useLingui();
  const { language } = useLanguage();
  const types = useObjectTypes();
  return (entry) => {
    const { resource, company_id: companyId } = entry;
    const [type = "", ...ids] = resource.split("/");
    const [id = "", second = ""] = ids;
    const month = ids.find((each) => MONTH.test(each));
    const vendor = ids.find((each) => ["aws", "azure", "gcp"].includes(each)) ?? readVendor(entry);
    const about = [
      entry.billinggroup_name ?? companyId ?? "",
      month === undefined ? "" : formatMonth(month, language),
      vendor === undefined ? "" : formatVendor(vendor),
    ].filter((part) => part !== "");
    const text = about.join(" ");
    switch (type) {
      case "billinggroup":
        return { text, path: `/customers/${id}` };
      case "invoice":
        // a part of the invoice may follow, such as a payment
        return { text, path: `/invoices/${ids.slice(0, 3).join("/")}` };
      case "month":
        return { text, path: `/months/${second}/${id}` };
      case "invoices":
        return { text, path: `/invoices/${id}` };
      case "acct":
        return { text: `${id.split("_")[0]} ${text}`, path: `/accounts?search=${id}` };
      case "user":
      case "userroles":
        return { text: entry.object_username ?? id, path: `/people/${id}` };
      case "role":
        return { text: second, path: `/roles/${second}` };
      case "costs":
        if (id !== "imports") return { text };
        return { text: t`Import`, path: `/imports/${second}` };
      case "settings":
        return { text: t`Settings`, path: "/settings" };
      case "invoicetemplate":
        return { text: text || t`Template`, path: `/templates/${id}` };
      default:
        return { text: text || (types[type] ?? resource) };
    }
  };
}

export function AuditObject({ label }: { label: ObjectLabel }) {
  if (label.path === undefined) return label.text;
  return <RouterLink to={label.path}>{label.text}</RouterLink>;
}
