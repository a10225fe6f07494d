"""Parquet files with nested columns: a struct becomes columns with dotted names, as in CSV."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from nimbill.costs.formats.detection import FORMATS
from nimbill.costs.formats.format import NestedColumns
from nimbill.costs.ingestion.gcp_credits import sum_credit_lists
from nimbill.costs.ingestion.tags import TAGS

# See docs/choices.md, gcp-export.


def find_nested_columns(schema: pa.Schema) -> NestedColumns | None:
    """Only files of a format that declares it are flattened; in others, structs are refused."""
    for format_ in FORMATS:
        nested = format_.nested
        if nested is not None and nested.mark in schema.names:
            return nested if pa.types.is_struct(schema.field(nested.mark).type) else None
    return None


def list_column_names(schema: pa.Schema) -> list[str]:
    """Return the names of all columns, with those of structs in dotted form."""
    if find_nested_columns(schema) is None:
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
    nested = find_nested_columns(batch.schema)
    if nested is None:
        return batch
    arrays = []
    for name in names:
        array = _get_column(batch, name)
        if name == nested.credits and pa.types.is_list(array.type):
            array = sum_credit_lists(file, name, array, first_line)
        if name == nested.labels and pa.types.is_list(array.type):
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
