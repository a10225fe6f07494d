"""Lines that were written here: what they are stands beside them, believed where it is sound."""

import pyarrow as pa
import pyarrow.compute as pc

from nimbill.costs.cost_line import EntryType, LineKind
from nimbill.foundation.basis import chosen

basis = chosen("focus-out")


def written_here(
    line_type: pa.DictionaryArray, kind: pa.DictionaryArray, entry_type: pa.DictionaryArray
) -> tuple[pa.Array, pa.Array, pa.Array]:
    """A kind that is none is unknown; an entry has a type, and nothing else has one."""
    kinds = kind.dictionary_decode()
    kinds = pc.if_else(pc.is_in(kinds, _words(LineKind)), kinds, LineKind.unknown.value)
    types = entry_type.dictionary_decode()
    types = pc.if_else(pc.is_in(types, _words(EntryType)), types, EntryType.fee.value)
    is_entry = pc.equal(kinds, LineKind.entry.value)
    return line_type, kinds, pc.if_else(is_entry, types.fill_null(EntryType.fee.value), None)


def _words(known: type[LineKind] | type[EntryType]) -> pa.Array:
    return pa.array([word.value for word in known], pa.string())
