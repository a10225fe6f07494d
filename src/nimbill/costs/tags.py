"""Tags, however they are written, as maps; keys are case-sensitive."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nimbill.costs.arrays import integers

TAGS = pa.map_(pa.string(), pa.string())


def from_columns(columns: Sequence[tuple[str, pa.Array]], lines: int) -> pa.MapArray:
    """One column per key: a line has those whose column is not empty, in the header's order."""
    filled = [(key, column) for key, column in columns if column.null_count < lines]
    if not filled:
        return none(lines)
    there = np.column_stack([_is_there(column) for _, column in filled])
    row, which = np.nonzero(there)
    offsets = np.concatenate([[0], np.cumsum(there.sum(axis=1))])
    values = pa.concat_arrays([column.dictionary_decode() for _, column in filled])
    keys = pa.array([key for key, _ in filled], pa.string())
    return pa.MapArray.from_arrays(
        integers(offsets.astype(np.int32)),
        keys.take(integers(which)),
        values.take(integers(which * lines + row)),
    )


def _is_there(column: pa.Array) -> np.ndarray[Any, np.dtype[np.bool_]]:
    bytes_ = column.is_valid().cast(pa.uint8()).to_numpy(zero_copy_only=False)
    return np.asarray(bytes_, np.bool_)


def none(lines: int) -> pa.MapArray:
    empty = pa.array([], pa.string())
    return pa.MapArray.from_arrays(pa.array([0] * (lines + 1), pa.int32()), empty, empty)


def from_text(words: pa.DictionaryArray, key_of: Callable[[str], str]) -> tuple[pa.MapArray, int]:
    """JSON, with or without its outer braces; and on how many lines it was none."""
    read = [_read(word, key_of) for word in words.dictionary.to_pylist()]
    maps = pa.array([[], *(list((tags or {}).items()) for tags in read)], TAGS)
    unread = pa.array([tags is None for tags in read], pa.bool_())
    at = pc.add(words.indices.cast(pa.int64()), 1).fill_null(0)
    wrong = pc.sum(unread.take(words.indices).cast(pa.int64())).as_py() or 0
    return maps.take(at), wrong


def _read(word: str | None, key_of: Callable[[str], str]) -> dict[str, str] | None:
    text = (word or "").strip()
    if text in ("", "null"):
        return {}
    try:
        tags = json.loads(text if text.startswith("{") else "{" + text + "}", parse_float=str)
    except (ValueError, RecursionError):
        return None
    if not isinstance(tags, dict):
        return None
    return {key_of(key): _plain(value) for key, value in tags.items() if value is not None}


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def from_maps(maps: pa.MapArray, key_of: Callable[[str], str]) -> pa.MapArray:
    """A map already; its keys are brought to ours, and what has no value is left out."""
    read = [
        [(key_of(key), value) for key, value in line or () if value not in (None, "")]
        for line in maps.to_pylist()
    ]
    return pa.array(read, TAGS)
