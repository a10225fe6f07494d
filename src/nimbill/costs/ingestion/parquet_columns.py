"""Refuses Parquet columns whose types or texts cannot be imported, and encodes the others.

Arrow neither converts the types of a file nor checks its texts when it reads them.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from nimbill.costs.formats.format import NULLS
from nimbill.costs.formats.line_rules import line_error
from nimbill.costs.ingestion.text_lengths import is_text, list_text_arrays

# fields whose texts are numbers, which are not encoded as dictionaries
NUMBER_FIELDS = ("cost", "credits", "effective_cost", "plan_effective_cost")
MAP_FIELDS = ("tags", "product")
NUL = "\0"
NULL_TEXTS = pa.array(NULLS, pa.string())


def refuse_unsupported_type(file: str, column: str, field: str, type_: pa.DataType) -> None:
    """Raise CostFileError unless values of the type can be converted into the field."""
    if not _is_supported(field, _value_type(type_)):
        raise line_error(file, "column_type", column=column)


def _is_supported(field: str, type_: pa.DataType) -> bool:
    if pa.types.is_map(type_):
        texts = (type_.key_type, type_.item_type)
        return field in MAP_FIELDS and all(is_text(_value_type(text)) for text in texts)
    if field in NUMBER_FIELDS:
        is_number = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)
        return is_text(type_) or any(check(type_) for check in (*is_number, pa.types.is_null))
    return not pa.types.is_nested(type_)


def _value_type(type_: pa.DataType) -> pa.DataType:
    return type_.value_type if pa.types.is_dictionary(type_) else type_


def refuse_invalid_texts(file: str, column: str, array: pa.Array, *, first_line: int) -> None:
    """Raise CostFileError if a text is not UTF-8 or contains NUL, as for CSV."""
    for values in list_text_arrays(array):
        texts = values.dictionary if pa.types.is_dictionary(values.type) else values
        fault = _find_fault(texts)
        if fault is None:
            continue
        rule, position = fault
        row = position if texts is values else pc.index(values.indices, position).as_py()
        line = first_line + row if values is array and row >= 0 else None
        raise line_error(file, rule, line=line, column=column)


def _find_fault(texts: pa.Array) -> tuple[str, int] | None:
    """Return the violated rule and the position of the text."""
    is_large = pa.types.is_large_string(texts.type) or pa.types.is_large_binary(texts.type)
    try:
        strings = texts.cast(pa.large_string() if is_large else pa.string())
        strings.validate(full=True)
    except pa.ArrowInvalid:
        return "encoding", _find_invalid_utf8(texts)
    position = pc.index(pc.greater_equal(pc.find_substring(strings, NUL), 0), True).as_py()
    return None if position < 0 else ("nul", position)


def _find_invalid_utf8(texts: pa.Array) -> int:
    for position, value in enumerate(texts.cast(pa.large_binary()).to_pylist()):
        try:
            (value or b"").decode()
        except UnicodeDecodeError:
            return position
    return 0


def encode_as_text(array: pa.Array) -> pa.DictionaryArray:
    """Return the values as if they had been read from CSV: empty texts become null."""
    if not pa.types.is_dictionary(array.type):
        array = array.dictionary_encode()
    values = array.dictionary
    if pa.types.is_timestamp(values.type):
        values = values.cast(pa.timestamp("s"), safe=False)
    values = values.cast(pa.string())
    indices = array.indices.cast(pa.int32())
    if not _has_null_or_duplicate(values):
        return pa.DictionaryArray.from_arrays(indices, values)
    texts = [None if text in NULLS else text for text in values.to_pylist()]
    unique = pa.array(texts, pa.string()).dictionary_encode()
    return pa.DictionaryArray.from_arrays(unique.indices.take(indices), unique.dictionary)


def _has_null_or_duplicate(values: pa.Array) -> bool:
    """A dictionary must not contain nulls or a value twice."""
    if values.null_count or len(values.unique()) < len(values):
        return True
    return pc.any(pc.is_in(values, NULL_TEXTS)).as_py() is True
