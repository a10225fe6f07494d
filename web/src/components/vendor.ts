// The names of the cloud vendors.
import { formatMonth } from "./month.ts";

const NAMES: Record<string, string> = { aws: "AWS", azure: "Azure", gcp: "Google Cloud" };

export function formatVendor(vendor: string): string {
  return NAMES[vendor] ?? vendor;
}

/** What is billed at once: September 2026 (AWS). */
export function formatVendorMonth(month: string, vendor: string, language: string): string {
  const [name, of] = [formatMonth(month, language), formatVendor(vendor)];
  return language === "ja" ? `${name}（${of}）` : `${name} (${of})`;
}
