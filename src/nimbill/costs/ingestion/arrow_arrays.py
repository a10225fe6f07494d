"""Arrays made and looked at in ways that Arrow has not, or not as quick."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa


def integers(numbers: np.ndarray[Any, np.dtype[np.signedinteger[Any]]]) -> pa.Array:
    """`pa.array` would ask pandas first, and loading pandas takes longer than most imports."""
    kind = pa.from_numpy_dtype(numbers.dtype)
    return pa.Array.from_buffers(
        kind, len(numbers), [None, pa.py_buffer(np.ascontiguousarray(numbers))]
    )


def words_of(texts: pa.StringArray) -> pa.DictionaryArray:
    """As words, each kept once; a column of one word, as many are, need not be hashed for that."""
    if not is_one_word(texts):
        return texts.dictionary_encode()
    indices = integers(np.zeros(len(texts), np.int32))
    return pa.DictionaryArray.from_arrays(indices, texts.slice(0, 1))


def is_one_word(texts: pa.StringArray) -> bool:
    """Whether all of them say the same: as long each, and the bytes repeat after that many."""
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
