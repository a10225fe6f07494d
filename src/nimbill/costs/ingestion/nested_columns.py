"""Parquet files with nested columns: a struct becomes columns with dotted names, as in CSV."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from nimbill.costs.ingestion.gcp_credits import sum_credit_lists
from nimbill.costs.ingestion.tags import TAGS

# See docs/choices.md, gcp-export.

# only files with this struct are flattened; in other formats a struct is an unsupported type
NESTED_MARK = "invoice"
CREDITS, LABELS = "credits", "labels"


def is_nested(schema: pa.Schema) -> bool:
    return NESTED_MARK in schema.names and pa.types.is_struct(schema.field(NESTED_MARK).type)


def list_column_names(schema: pa.Schema) -> list[str]:
    """Return the names of all columns, with those of structs in dotted form."""
    if not is_nested(schema):
        return list(schema.names)
    return [name for field in schema for name in _list_leaves(field)]


def _list_leaves(field: pa.Field) -> Iterator[str]:
    if not pa.types.is_struct(field.type):
        yield field.name
        return
    for position in range(field.type.num_fields):
        for name in _list_leaves(field.type.field(position)):
            yield f"{field.name}.{name}"


def flatten_batch(
    file: str, batch: pa.RecordBatch, names: Sequence[str], first_line: int
) -> pa.RecordBatch:
    """Return the named columns in this order; lists of credits and labels become one value."""
    if not is_nested(batch.schema):
        return batch
    arrays = []
    for name in names:
        array = _get_column(batch, name)
        if name == CREDITS and pa.types.is_list(array.type):
            array = sum_credit_lists(file, name, array, first_line)
        if name == LABELS and pa.types.is_list(array.type):
            array = _build_tags(array)
        arrays.append(array)
    return pa.RecordBatch.from_arrays(arrays, names=list(names))


def _get_column(batch: pa.RecordBatch, name: str) -> pa.Array:
    if name in batch.schema.names:
        return batch.column(name)
    top, *path = name.split(".")
    return pc.struct_field(batch.column(top), path)


def _build_tags(labels: pa.Array) -> pa.MapArray:
    lines = [
        [
            (str(label["key"]), None if label.get("value") is None else str(label["value"]))
            for label in line or ()
            if label and label.get("key")
        ]
        for line in labels.to_pylist()
    ]
    return pa.array(lines, TAGS)
