"""Tags, however they are written, as maps; keys are case-sensitive."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nimbill.costs.ingestion.arrow_arrays import integers

TAGS = pa.map_(pa.string(), pa.string())
# as they are made here: each word is kept once, and is not looked for again when it is written
WORDS = pa.dictionary(pa.int32(), pa.string())


def from_columns(columns: Sequence[tuple[str, pa.DictionaryArray]], lines: int) -> pa.MapArray:
    """One column per key: a line has those whose column is not empty, in the header's order."""
    filled = [(key, column) for key, column in columns if column.null_count < lines]
    if not filled:
        return none(lines)
    codes, words = _in_one_dictionary([column for _, column in filled], lines)
    there = codes >= 0
    which = np.broadcast_to(np.arange(len(filled), dtype=np.int32), there.shape)[there]
    offsets = np.zeros(lines + 1, np.int32)
    np.cumsum(np.count_nonzero(there, axis=1), out=offsets[1:])
    keys = pa.array([key for key, _ in filled], pa.string())
    return pa.MapArray.from_arrays(
        integers(offsets),
        pa.DictionaryArray.from_arrays(integers(which), keys),
        pa.DictionaryArray.from_arrays(integers(codes[there]), words),
    )


def _in_one_dictionary(
    columns: Sequence[pa.DictionaryArray], lines: int
) -> tuple[np.ndarray[Any, np.dtype[np.int32]], pa.Array]:
    """Side by side, where each word stands in the dictionary of all; -1 where there is none."""
    all_words = pa.concat_arrays([column.dictionary for column in columns]).dictionary_encode()
    at = all_words.indices.to_numpy()
    codes = np.empty((lines, len(columns)), np.int32)
    first = 0
    for number, column in enumerate(columns):
        end = first + len(column.dictionary)
        own = np.append(at[first:end], np.int32(-1))
        codes[:, number] = own[column.indices.fill_null(-1).to_numpy()]
        first = end
    return codes, all_words.dictionary


def none(lines: int) -> pa.MapArray:
    empty = pa.array([], WORDS)
    return pa.MapArray.from_arrays(integers(np.zeros(lines + 1, np.int32)), empty, empty)


def _as_words(maps: pa.MapArray) -> pa.MapArray:
    """Of maps from their beginning, with none missing."""
    keys, values = maps.keys.dictionary_encode(), maps.items.dictionary_encode()
    return pa.MapArray.from_arrays(maps.offsets, keys, values)


def from_text(words: pa.DictionaryArray, key_of: Callable[[str], str]) -> tuple[pa.MapArray, int]:
    """JSON, with or without its outer braces; and on how many lines it was none."""
    read = [_read(word, key_of) for word in words.dictionary.to_pylist()]
    maps = pa.array([[], *(list((tags or {}).items()) for tags in read)], TAGS)
    unread = pa.array([tags is None for tags in read], pa.bool_())
    at = pc.add(words.indices.cast(pa.int64()), 1).fill_null(0)
    wrong = pc.sum(unread.take(words.indices).cast(pa.int64())).as_py() or 0
    return _as_words(maps).take(at), wrong


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
    return _as_words(pa.array(read, TAGS))
