"""Why a delivery is refused: every rule on files, manifests and places, and its sentence."""

from nimbill.costs.cost_file_error import CostFileError, shown
from nimbill.foundation.basis import chosen

basis = chosen("deliveries")

RULES = {
    # where it lies
    "address": "the address cannot be used: {}",
    "source_missing": "there is no such file, folder or object",
    "source_denied": "it may not be read",
    "source_unreachable": "the object store does not answer",
    "outside_roots": "it lies outside the folders that imports may come from",
    "not_a_file": "it is neither a file nor a folder",
    "too_many_files": "more than {} files lie there",
    "changed": "it changed while it was read; import it again once it is complete",
    # which parts
    "manifest": "the manifest cannot be read: {}",
    "amortised": "this is an amortised export; only actual costs are billed",
    "not_costs": "this export holds no costs but {}",
    "no_parts": "there is no cost file",
    "part_missing": "the manifest names {}, which is not there",
    "part_ambiguous": "the manifest names {}, and several files may be meant",
    "part_unlisted": "the manifest beside it does not name it",
    "part_size": "it has {} bytes; the manifest says {}",
    "part_rows": "it has {} lines; the manifest says {}",
    "same_part_twice": "it has the same content as {}, which would be billed twice",
    "several_assemblies": "several versions lie side by side and no manifest says which counts: {}",
    "several_months": "several months lie there; say which one is meant: {}",
    "several_reports": "several reports lie there; import each on its own: {}",
    "month_absent": "no manifest is of {}; there are {}",
    "too_many_parts": "it has more than {} parts",
    # what is in a file
    "truncated": "the file ends too early",
    "bad_checksum": "the file is damaged: its checksum does not fit its content",
    "corrupt": "the file is damaged and cannot be decompressed",
    "trailing_garbage": "something follows the end of the compressed data",
    "not_gzip": "it is called gz and is not gzip",
    "not_zip": "it is called zip and is not a zip file",
    "not_parquet": "it is called parquet and is not Parquet",
    "compression": "it is compressed in a way that is not supported",
    "encrypted": "it is encrypted",
    "nested": "a compressed file lies in a compressed file",
    "bomb": "it grows to {} times its size when decompressed",
    "too_large": "it is larger than {} bytes when decompressed",
    "line_too_long": "a line is longer than {} bytes",
}


def refused(
    file: str, rule: str, *words: object, line: int | None = None, column: str | None = None
) -> CostFileError:
    """The refusal by this rule; words of the file are cut and cleaned before they are repeated."""
    return CostFileError(
        file, rule, RULES[rule].format(*(shown(str(w)) for w in words)), line=line, column=column
    )
