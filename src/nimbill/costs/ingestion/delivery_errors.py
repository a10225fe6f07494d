"""Error texts for deliveries: rules on sources, manifests and files."""

from nimbill.costs.cost_file_error import CostFileError, printable_excerpt

# See docs/choices.md, cost-deliveries.

RULES = {
    # sources
    "address": "The address cannot be used: {}.",
    "source_missing": "There is no such file, folder or object.",
    "source_denied": "Permission to read it was denied.",
    "source_unreadable": "The disk or the file system reports an error when it is read.",
    "source_unreachable": "The object store does not respond.",
    "outside_roots": "It is outside the folders from which imports are allowed.",
    "not_a_file": "It is neither a file nor a folder.",
    "file_name": "The name of the file is not encoded in UTF-8; rename it.",
    "too_many_files": "The source contains more than {} files.",
    "changed": "It changed while it was read; import it again when it is complete.",
    # manifests and parts
    "manifest": "The manifest cannot be read: {}.",
    "amortised": "This is an amortised export; import the export of actual costs instead.",
    "not_costs": "This export contains {} instead of costs.",
    "no_parts": "There is no cost file.",
    "part_missing": "The manifest lists {}, which is missing.",
    "part_ambiguous": "The manifest lists {}, which matches several files.",
    "part_unlisted": "The manifest does not list this file.",
    "part_size": "It has {} bytes; the manifest says {}.",
    "part_rows": "It has {} lines; the manifest says {}.",
    "same_part_twice": "Its content would be billed twice; it is the same as {}.",
    "several_assemblies": "There are several versions and no manifest says which is current: {}.",
    "several_months": "There are several months; specify which one to import: {}.",
    "several_reports": "There are several reports; import each of them separately: {}.",
    "month_absent": "No manifest is for {}; there are manifests for {}.",
    "too_many_parts": "It has more than {} parts.",
    # file contents
    "truncated": "The file is truncated.",
    "bad_checksum": "The file is damaged: its checksum does not match its content.",
    "corrupt": "The file is damaged and cannot be decompressed.",
    "trailing_garbage": "There is other data after the end of the compressed data.",
    "not_gzip": "The file name ends in gz, but the file is not a gzip file.",
    "not_zip": "The file name ends in zip, but the file is not a zip file.",
    "not_parquet": "The file name ends in parquet, but the file is not a Parquet file.",
    "compression": "The compression method is not supported.",
    "encrypted": "The file is encrypted.",
    "nested": "A compressed file contains another compressed file.",
    "bomb": "It grows to {} times its size when decompressed.",
    "too_large": "It is larger than {} bytes when decompressed.",
    "delivery_too_large": "All files together are larger than {} bytes when decompressed.",
    "line_too_long": "A line is longer than {} bytes.",
    "value_too_long": "A value is longer than {} bytes.",
    "text_too_long": "Its lines have more than {} bytes of text on average.",
    # resources of the preparing process
    "memory": "Reading it needs more than {} MiB of memory; split it into smaller files.",
    "time": "Reading it takes longer than {} seconds; import smaller files.",
}


def delivery_error(
    file: str, rule: str, *values: object, line: int | None = None, column: str | None = None
) -> CostFileError:
    """Fill the text of the rule with the values; these may come from files and are cleaned."""
    texts = (printable_excerpt(str(value)) for value in values)
    return CostFileError(file, rule, RULES[rule].format(*texts), line=line, column=column)
