// What was odd about an import, as sentences that say what to do.
import { plural } from "@lingui/core/macro";
import { useLingui } from "@lingui/react/macro";
import { formatMonth } from "../../../components/month.ts";
import { formatVendor } from "../../../components/vendor.ts";
import { useLanguage } from "../../../language/language.tsx";
import type { ImportRecord } from "./import-state.tsx";

export interface Oddity {
  text: string;
  /** The page where it can be solved. */
  path?: string;
}

interface VanishedEntry {
  description: string;
  customer_id: string;
}

export function useOddities(): (record: ImportRecord) => Oddity[] {
  const { t } = useLingui();
  const { language } = useLanguage();
  return (record) => {
    const { vendor } = record;
    const found: Oddity[] = [];
    const accounts = record.accounts_in_no_group.length;
    if (accounts > 0)
      found.push({
        text: t`${plural(accounts, { one: "# account belongs", other: "# accounts belong" })} to no billing group.`,
        path: `/accounts?unassigned=true&vendor=${vendor}&month=${record.month ?? ""}`,
      });
    if (record.proposals.length > 0 || record.drift.length > 0) {
      const month = record.month === null ? "" : formatMonth(record.month, language);
      found.push({
        text: t`${month} is closed, and the vendor's costs differ from what was invoiced.`,
      });
    }
    for (const [type, lines] of Object.entries(record.unknown_types))
      found.push({ text: t`${lines} lines have the type ${type}, which is not known.` });
    const currencies = Object.keys(record.currencies);
    if (currencies.length > 1)
      found.push({ text: t`The costs are in several currencies: ${currencies.join(", ")}.` });
    if (record.differences.length > 0)
      found.push({ text: t`Two independent readings of the files have different sums.` });
    found.push(...listNoticed(record.noticed));
    return found;
  };

  function listNoticed(noticed: ImportRecord["noticed"]): Oddity[] {
    const found: Oddity[] = [];
    for (const [other, lines] of Object.entries(readObject(noticed.other_vendors)))
      found.push({
        text: t`${String(lines)} lines are of ${formatVendor(other)} and were left out.`,
      });
    const rounded = readCount(noticed.rounded_lines);
    if (rounded > 0) found.push({ text: t`${rounded} lines had more digits than can be stored.` });
    const tags = readCount(noticed.unreadable_tags);
    if (tags > 0) found.push({ text: t`The tags of ${tags} lines could not be read.` });
    const outside = readCount(noticed.usage_outside_month);
    if (outside > 0) found.push({ text: t`${outside} lines are of usage in another month.` });
    for (const [account, payers] of Object.entries(readObject(noticed.paid_by_another)))
      found.push({
        text: t`Account ${account} is paid by ${joinTexts(payers)}, but registered with another payer.`,
        path: `/accounts?search=${encodeURIComponent(account)}`,
      });
    for (const [account, payers] of Object.entries(readObject(noticed.also_paid_by)))
      found.push({
        text: t`Account ${account} also has costs of the payer ${joinTexts(payers)}. Two reports of one month would be billed twice.`,
      });
    for (const entry of readList<VanishedEntry>(noticed.vanished_entries))
      found.push({
        text: t`The applied entry “${entry.description}” of account ${entry.customer_id} is no longer in the files. Undo it if it should not be billed.`,
        path: "/entries",
      });
    return found;
  }
}

function readCount(value: unknown): number {
  return typeof value === "number" ? value : 0;
}

function readObject(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function readList<T>(value: unknown): T[] {
  return Array.isArray(value) ? (value as T[]) : [];
}

function joinTexts(value: unknown): string {
  return readList<string>(value).join(", ");
}
