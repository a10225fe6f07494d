"""Line type, kind and entry type of FOCUS files that Nimbill exported."""

import pyarrow as pa
import pyarrow.compute as pc

from nimbill.costs.cost_line import EntryType, LineKind

# See docs/choices.md, focus-export.


def read_nimbill_columns(
    line_type: pa.DictionaryArray, kind: pa.DictionaryArray, entry_type: pa.DictionaryArray
) -> tuple[pa.Array, pa.Array, pa.Array]:
    """Validate the values: an unknown kind becomes `unknown`; only entries have an entry type."""
    kinds = kind.dictionary_decode()
    kinds = pc.if_else(pc.is_in(kinds, _values(LineKind)), kinds, LineKind.unknown.value)
    types = entry_type.dictionary_decode()
    types = pc.if_else(pc.is_in(types, _values(EntryType)), types, EntryType.fee.value)
    is_entry = pc.equal(kinds, LineKind.entry.value)
    return line_type, kinds, pc.if_else(is_entry, types.fill_null(EntryType.fee.value), None)


def _values(enum: type[LineKind] | type[EntryType]) -> pa.Array:
    return pa.array([member.value for member in enum], pa.string())
