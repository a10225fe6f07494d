// The names of the cloud vendors.
const NAMES: Record<string, string> = { aws: "AWS", azure: "Azure", gcp: "Google Cloud" };

export function formatVendor(vendor: string): string {
  return NAMES[vendor] ?? vendor;
}
