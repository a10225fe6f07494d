"""Limits the length of values, and the text that a batch would have without its dictionaries.

A Parquet file stores a repeated value once, so that a small file may contain gigabytes of text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa
import pyarrow.compute as pc

from nimbill.costs.ingestion.delivery_errors import delivery_error
from nimbill.costs.ingestion.parts import Limits


def refuse_long_values(
    file: str, column: str, array: pa.Array, *, first_line: int, limits: Limits
) -> None:
    """Raise CostFileError with the line of the first value that is too long."""
    for values in list_text_arrays(array):
        texts = values.dictionary if pa.types.is_dictionary(values.type) else values
        if texts.nbytes <= limits.value_bytes_max:
            continue  # all values together are short enough
        is_long = pc.greater(pc.binary_length(texts), limits.value_bytes_max)
        position = pc.index(is_long, True).as_py()
        if position < 0:
            continue
        row = position if texts is values else pc.index(values.indices, position).as_py()
        line = first_line + row if values is array and row >= 0 else None
        raise delivery_error(
            file, "value_too_long", limits.value_bytes_max, line=line, column=column
        )


def refuse_long_text(file: str, arrays: Iterable[pa.Array], *, lines: int, limits: Limits) -> None:
    """Raise CostFileError if the texts of a batch would take too much memory."""
    texts = [values for array in arrays for values in list_text_arrays(array)]
    if sum(map(_estimate_text_bytes, texts)) <= limits.batch_text_bytes_max:
        return
    if sum(map(_count_text_bytes, texts)) > limits.batch_text_bytes_max:
        raise delivery_error(file, "text_too_long", limits.batch_text_bytes_max // max(lines, 1))


def _estimate_text_bytes(values: pa.Array) -> int:
    """An upper bound that needs no pass over the lines."""
    if not pa.types.is_dictionary(values.type):
        return int(values.nbytes)
    longest = pc.max(pc.binary_length(values.dictionary)).as_py() or 0
    return int(longest) * len(values)


def _count_text_bytes(values: pa.Array) -> int:
    if not pa.types.is_dictionary(values.type):
        return int(values.nbytes)
    lengths = pc.binary_length(values.dictionary).cast(pa.int64())
    return int(pc.sum(lengths.take(values.indices)).as_py() or 0)


def list_text_arrays(array: pa.Array) -> Iterator[pa.Array]:
    """Yield the array if it contains texts; keys and values of a map."""
    if pa.types.is_map(array.type):
        yield from list_text_arrays(array.keys)
        yield from list_text_arrays(array.items)
        return
    type_ = array.type.value_type if pa.types.is_dictionary(array.type) else array.type
    if is_text(type_):
        yield array


def is_text(type_: pa.DataType) -> bool:
    return any(
        is_type(type_)
        for is_type in (
            pa.types.is_string,
            pa.types.is_large_string,
            pa.types.is_binary,
            pa.types.is_large_binary,
        )
    )
