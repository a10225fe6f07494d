// Why files could not be imported, by the code of the rule that they break.
import { useLingui } from "@lingui/react/macro";

/** A sentence; undefined for a rule that has none, which is shown as the service writes it. */
export function useProblemText(): (code: string) => string | undefined {
  const { t } = useLingui();
  const texts: Record<string, string> = {
    source_missing: t`There is no such file, folder or object.`,
    source_denied: t`Permission to read it was denied.`,
    source_unreachable: t`The object store does not respond.`,
    outside_roots: t`It is outside the locations from which imports are allowed.`,
    changed: t`It changed while it was read. Import it again when it is complete.`,
    manifest: t`The manifest cannot be read.`,
    amortised: t`This is an amortised export. Import the export of actual costs instead.`,
    not_costs: t`This export does not contain costs.`,
    no_parts: t`There is no cost file.`,
    part_missing: t`The manifest lists a file that is missing.`,
    part_unlisted: t`The manifest does not list this file.`,
    part_size: t`Its size differs from the manifest.`,
    part_rows: t`Its number of lines differs from the manifest.`,
    same_part_twice: t`It has the same content as another file and would be billed twice.`,
    several_months: t`There are several months. Choose which one to import.`,
    several_reports: t`There are several reports. Import each of them separately.`,
    month_absent: t`There are no files for the chosen month.`,
    truncated: t`The file is truncated.`,
    bad_checksum: t`The file is damaged: its checksum does not match its content.`,
    corrupt: t`The file is damaged and cannot be decompressed.`,
    not_gzip: t`The file name ends in gz, but the file is not a gzip file.`,
    not_zip: t`The file name ends in zip, but the file is not a zip file.`,
    not_parquet: t`The file name ends in parquet, but the file is not a Parquet file.`,
    encrypted: t`The file is encrypted.`,
    empty: t`This column requires a value.`,
    encoding: t`The file is not encoded in UTF-8.`,
    currency: t`A currency code has three letters.`,
    moment: t`A date must be written YYYY-MM-DD or MM/DD/YYYY.`,
    month: t`The line belongs to another month than the one to import.`,
    number: t`A cost must be a plain decimal number.`,
    number_range: t`A cost is too large.`,
    unknown_format: t`The header matches no supported format.`,
    unreadable: t`The file cannot be read.`,
    vendor: t`This file is of another vendor.`,
    vendor_absent: t`There are no lines of the chosen vendor.`,
  };
  return (code) => texts[code];
}
