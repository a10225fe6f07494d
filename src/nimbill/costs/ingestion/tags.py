"""Converts tags from columns, JSON text or maps into map arrays; keys are case-sensitive."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nimbill.costs.ingestion.arrow_arrays import TEXT_DICTIONARY, integer_array

TAGS = pa.map_(pa.string(), pa.string())
_SURROGATE = re.compile("[\ud800-\udfff]")


def from_columns(columns: Sequence[tuple[str, pa.DictionaryArray]], lines: int) -> pa.MapArray:
    """One column per key: a line has the tags whose column is not empty, in header order."""
    filled = [(key, column) for key, column in columns if column.null_count < lines]
    if not filled:
        return empty_tags(lines)
    codes, values = _unify_dictionaries([column for _, column in filled], lines)
    present = codes >= 0
    key_codes = np.broadcast_to(np.arange(len(filled), dtype=np.int32), present.shape)[present]
    offsets = np.zeros(lines + 1, np.int32)
    np.cumsum(np.count_nonzero(present, axis=1), out=offsets[1:])
    keys = pa.array([key for key, _ in filled], pa.string())
    return pa.MapArray.from_arrays(
        integer_array(offsets),
        pa.DictionaryArray.from_arrays(integer_array(key_codes), keys),
        pa.DictionaryArray.from_arrays(integer_array(codes[present]), values),
    )


def _unify_dictionaries(
    columns: Sequence[pa.DictionaryArray], lines: int
) -> tuple[np.ndarray[Any, np.dtype[np.int32]], pa.Array]:
    """Return a matrix of codes (lines by columns, -1 for null) and their common dictionary."""
    unified = pa.concat_arrays([column.dictionary for column in columns]).dictionary_encode()
    unified_codes = unified.indices.to_numpy()
    codes = np.empty((lines, len(columns)), np.int32)
    start = 0
    for number, column in enumerate(columns):
        end = start + len(column.dictionary)
        column_codes = np.append(unified_codes[start:end], np.int32(-1))
        codes[:, number] = column_codes[column.indices.fill_null(-1).to_numpy()]
        start = end
    return codes, unified.dictionary


def empty_tags(lines: int) -> pa.MapArray:
    empty = pa.array([], TEXT_DICTIONARY)
    return pa.MapArray.from_arrays(integer_array(np.zeros(lines + 1, np.int32)), empty, empty)


def add_tag(maps: pa.MapArray, key: str, values: pa.DictionaryArray) -> pa.MapArray:
    """Add a tag to each line that has a value."""
    lines = [
        line if value is None else [*line, (key, value)]
        for line, value in zip(maps.to_pylist(), values.to_pylist(), strict=True)
    ]
    return _encode_dictionaries(pa.array(lines, TAGS))


def _encode_dictionaries(maps: pa.MapArray) -> pa.MapArray:
    """Saves the Parquet writer this work; `maps` must be unsliced and without nulls."""
    keys, values = maps.keys.dictionary_encode(), maps.items.dictionary_encode()
    return pa.MapArray.from_arrays(maps.offsets, keys, values)


def from_json(
    texts: pa.DictionaryArray, normalize_key: Callable[[str], str]
) -> tuple[pa.MapArray, int]:
    """Parse JSON with or without outer braces; also return the number of unreadable lines.

    A list of objects with `key` and `value` is read as well.
    """
    parsed = [_parse(text, normalize_key) for text in texts.dictionary.to_pylist()]
    maps = pa.array([[], *(list((tags or {}).items()) for tags in parsed)], TAGS)
    invalid = pa.array([tags is None for tags in parsed], pa.bool_())
    positions = pc.add(texts.indices.cast(pa.int64()), 1).fill_null(0)
    invalid_lines = pc.sum(invalid.take(texts.indices).cast(pa.int64())).as_py() or 0
    return _encode_dictionaries(maps).take(positions), invalid_lines


def _parse(value: str | None, normalize_key: Callable[[str], str]) -> dict[str, str] | None:
    text = (value or "").strip()
    if text in ("", "null"):
        return {}
    try:
        is_complete = text.startswith(("{", "["))
        tags = json.loads(text if is_complete else "{" + text + "}", parse_float=str)
    except (ValueError, RecursionError):
        return None
    if isinstance(tags, list):
        tags = _read_pairs(tags)
    if not isinstance(tags, dict):
        return None
    texts = {normalize_key(key): _to_text(tag) for key, tag in tags.items() if tag is not None}
    return texts if all(map(_can_be_stored, chain(texts, texts.values()))) else None


def _read_pairs(items: list[Any]) -> dict[str, Any] | None:
    """Return the values by key, or None if an item is no object with a key."""
    pairs = [(item.get("key"), item.get("value")) for item in items if isinstance(item, dict)]
    if len(pairs) < len(items) or not all(isinstance(key, str) and key for key, _ in pairs):
        return None
    return {str(key): value for key, value in pairs}


def _can_be_stored(text: str) -> bool:
    """JSON can also express NUL and half a surrogate pair."""
    return "\0" not in text and _SURROGATE.search(text) is None


def _to_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def from_maps(maps: pa.MapArray, normalize_key: Callable[[str], str]) -> pa.MapArray:
    """Tags without a value are omitted."""
    tags = [
        [(normalize_key(key), value) for key, value in line or () if value not in (None, "")]
        for line in maps.to_pylist()
    ]
    return _encode_dictionaries(pa.array(tags, TAGS))
