"""The columns of a vendor file, and how charges become CSV lines or Arrow tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc

from nimbill.demo.vendor_files.charges import ChargeKind, Charges, SyntheticMonth
from nimbill.demo.vendor_files.products import PRODUCTS, TAGS

TEXT = pa.string()
DOUBLE = pa.float64()

# What the value of a column depends on: nothing, one field of the charge, or two of them.
ValueKey = Literal[
    "constant", "kind", "customer", "product", "hour", "tags", "kind customer", "kind product",
    "number", "cost",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class FileColumn:
    """A column name, the key its value depends on, and one value for each possible key."""

    name: str
    by: ValueKey = "constant"
    values: tuple[object, ...] = ("",)  # for "number" and "cost": a template
    type: pa.DataType = TEXT  # the type in Parquet; CSV holds text only

    def renamed_to(self, name: str) -> FileColumn:
        return FileColumn(name, self.by, self.values, self.type)


def format_timestamp(time: datetime) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


def constant(name: str, value: str | None) -> FileColumn:
    return FileColumn(name, "constant", (value,))


def by_kind(name: str, values: Mapping[ChargeKind, str], default: str | None = None) -> FileColumn:
    return FileColumn(name, "kind", tuple(values.get(kind, default) for kind in ChargeKind))


def by_customer(name: str, values: Sequence[str]) -> FileColumn:
    return FileColumn(name, "customer", tuple(values))


def by_product(name: str, values: Sequence[str | None]) -> FileColumn:
    return FileColumn(name, "product", tuple(values))


def by_hour(name: str, month: SyntheticMonth, format_value: Callable[[int], str]) -> FileColumn:
    return FileColumn(name, "hour", tuple(format_value(hour) for hour in range(len(month.hours))))


def by_tags(name: str, format_value: Callable[[Mapping[str, str]], str | None]) -> FileColumn:
    return FileColumn(name, "tags", tuple(format_value(tags) for tags in TAGS))


def by_kind_and_customer(
    name: str,
    month: SyntheticMonth,
    kinds: Sequence[ChargeKind],
    format_value: Callable[[str], str],
) -> FileColumn:
    """A value per customer on lines of these kinds; other lines are empty."""
    values = [
        format_value(customer) if kind in kinds else None
        for kind in ChargeKind
        for customer in month.customer_ids
    ]
    return FileColumn(name, "kind customer", tuple(values))


def by_kind_and_product(
    name: str, format_value: Callable[[ChargeKind, int], str | None]
) -> FileColumn:
    values = [
        format_value(kind, product) for kind in ChargeKind for product in range(len(PRODUCTS))
    ]
    return FileColumn(name, "kind product", tuple(values))


def on_kinds(name: str, kinds: Sequence[ChargeKind], value: str) -> FileColumn:
    return by_kind(name, dict.fromkeys(kinds, value))


def line_number(name: str, template: str = "{}") -> FileColumn:
    """The number of the line, inserted into a template."""
    return FileColumn(name, "number", (template,))


def cost(name: str, type_: pa.DataType) -> FileColumn:
    return FileColumn(name, "cost", ("{}",), type_)


# ── rows ─────────────────────────────────────────────────────────────────────────────────────────


def csv_header(columns: Sequence[FileColumn]) -> bytes:
    return (",".join(_quote(column.name) for column in columns) + "\n").encode()


def csv_lines(columns: Sequence[FileColumn], block: Charges, month: SyntheticMonth) -> memoryview:
    """Format the charges as CSV lines without the header.

    Adjacent columns with the same key are joined once per key, which is faster than once per line.
    """
    positions = _value_positions(block, month)
    pieces = [
        piece
        for by, adjacent in groupby(columns, key=lambda column: column.by)
        for piece in _join_columns(by, list(adjacent), block, positions)
    ]
    lines = pc.binary_join_element_wise(*pieces, ",")
    joined = pa.ListArray.from_arrays(pa.array([0, len(lines)], pa.int32()), lines)
    return memoryview(pc.binary_join(joined, "\n")[0].as_buffer())


def _join_columns(
    by: ValueKey, columns: Sequence[FileColumn], block: Charges, positions: Mapping[str, pa.Array]
) -> Iterator[pa.Array]:
    if by == "number":
        for column in columns:
            yield _fill_template(column, block.number.cast(pa.string()))
    elif by == "cost":
        text = block.cost.cast(pa.string())
        yield from (text for _ in columns)
    else:
        joined = [
            ",".join(_quote(_to_text(value)) for value in row)
            for row in zip(*(column.values for column in columns), strict=True)
        ]
        yield pa.array(joined).take(positions[by])


def _fill_template(column: FileColumn, numbers: pa.Array) -> pa.Array:
    before, _, after = str(column.values[0]).partition("{}")
    return pc.binary_join_element_wise(before, numbers, after, "")


def _to_text(value: object) -> str:
    return "" if value is None else str(value)


def _quote(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if re.search(r'[",\r\n]', text) else text


def arrow_table(columns: Sequence[FileColumn], block: Charges, month: SyntheticMonth) -> pa.Table:
    positions = _value_positions(block, month)
    arrays = []
    for column in columns:
        if column.by == "number":
            arrays.append(_fill_template(column, block.number.cast(pa.string())))
        elif column.by == "cost":
            # Arrow converts decimals to doubles inexactly, so the conversion goes through text.
            cost = block.cost.cast(pa.string()) if column.type == DOUBLE else block.cost
            arrays.append(cost.cast(column.type))
        elif pa.types.is_string(column.type):
            arrays.append(_dictionary_encode(column).take(positions[column.by]))
        else:
            arrays.append(pa.array(column.values, column.type).take(positions[column.by]))
    return pa.table(arrays, names=[column.name for column in columns])


def _dictionary_encode(column: FileColumn) -> pa.DictionaryArray:
    values = [value if value is None else str(value) for value in column.values]
    return pa.array(values, column.type).dictionary_encode()


def _value_positions(block: Charges, month: SyntheticMonth) -> dict[str, pa.Array]:
    customers, products = len(month.customer_ids), len(PRODUCTS)
    return {
        "constant": pa.repeat(pa.scalar(0, pa.int32()), len(block)),
        "kind": block.kind,
        "customer": block.customer,
        "product": block.product,
        "hour": block.hour,
        "tags": block.tags,
        "kind customer": pc.add(pc.multiply(block.kind, customers), block.customer),
        "kind product": pc.add(pc.multiply(block.kind, products), block.product),
    }
