"""Arrow array helpers that Arrow lacks, or that are faster than Arrow's."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

TEXT_DICTIONARY = pa.dictionary(pa.int32(), pa.string())


def integer_array(numbers: np.ndarray[Any, np.dtype[np.signedinteger[Any]]]) -> pa.Array:
    """Unlike `pa.array`, this does not load pandas, which takes longer than most imports."""
    type_ = pa.from_numpy_dtype(numbers.dtype)
    return pa.Array.from_buffers(
        type_, len(numbers), [None, pa.py_buffer(np.ascontiguousarray(numbers))]
    )


def encode_dictionary(texts: pa.StringArray) -> pa.DictionaryArray:
    """Many columns have the same value in every row and need no hashing."""
    if not is_constant(texts):
        return texts.dictionary_encode()
    indices = integer_array(np.zeros(len(texts), np.int32))
    return pa.DictionaryArray.from_arrays(indices, texts.slice(0, 1))


def is_constant(texts: pa.StringArray) -> bool:
    """Compare lengths and bytes: equal texts have equal lengths, and their bytes repeat."""
    count = len(texts)
    if count < 2 or texts.null_count or not texts[0] == texts[count // 2] == texts[count - 1]:
        return False
    _, offsets, bytes_ = texts.buffers()
    ends = np.frombuffer(offsets, np.int32)[texts.offset : texts.offset + count + 1]
    length, first, last = int(ends[1] - ends[0]), int(ends[0]), int(ends[-1])
    if not length or last - first != length * count or not bool((np.diff(ends) == length).all()):
        return False
    rest = last - first - length
    return bool(bytes_.slice(first, rest).equals(bytes_.slice(first + length, rest)))


def map_values(array: pa.DictionaryArray, new_values: list[Any]) -> pa.DictionaryArray:
    """Replace each distinct value by another text or null; the new dictionary has no duplicates."""
    mapped = pa.array(new_values, pa.string()).dictionary_encode()
    indices = array.indices
    if len(mapped.dictionary) < len(new_values):
        indices = mapped.indices.take(indices)
    return pa.DictionaryArray.from_arrays(indices, mapped.dictionary)


def fill_null(array: pa.DictionaryArray, default: str) -> pa.DictionaryArray:
    dictionary = array.dictionary
    code = pc.index(dictionary, default).as_py()
    if code < 0:
        code = len(dictionary)
        dictionary = pa.concat_arrays([dictionary, pa.array([default], pa.string())])
    return pa.DictionaryArray.from_arrays(array.indices.fill_null(code), dictionary)


def first_true(mask: pa.Array) -> int:
    row: int = pc.index(mask, True).as_py()
    return row


def count_lines(array: pa.DictionaryArray, groups: pa.Array) -> Counter[str]:
    """Count lines by group; `groups` has the group of each distinct value of the array."""
    lines = np.bincount(array.indices.to_numpy(), minlength=len(groups))
    encoded = groups.dictionary_encode()  # there are few groups but maybe thousands of values
    codes = encoded.indices.fill_null(-1).to_numpy()
    counts = {
        group: int(lines[codes == code].sum())
        for code, group in enumerate(encoded.dictionary.to_pylist())
    }
    return +Counter(counts)


def fill_empty(array: pa.DictionaryArray, fallback: pa.DictionaryArray) -> pa.DictionaryArray:
    """Replace empty texts by those of another array."""
    texts = array.dictionary_decode()
    filled = pc.if_else(pc.equal(texts, ""), fallback.dictionary_decode(), texts)
    return filled.dictionary_encode()


def has_empty(array: pa.DictionaryArray) -> bool:
    """Whether a text may be empty: other lines of the file may use it. There are no nulls."""
    return bool(pc.index(array.dictionary, "").as_py() >= 0)
