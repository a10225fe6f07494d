"""The columns of a vendor's file: what each holds, and how lines become text or a table."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc

from nimbill.demo.vendor_files.months import Charges, Kind, Month
from nimbill.demo.vendor_files.products import PRODUCTS, TAGS

TEXT, DOUBLE = pa.string(), pa.float64()

# What a value depends on: nothing, one field of the charge, or two of them.
By = Literal[
    "always", "kind", "customer", "product", "hour", "tags", "kind customer", "kind product",
    "number", "cost",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Column:
    """A name, what its values depend on, and the value for each of those."""

    name: str
    by: By = "always"
    values: tuple[object, ...] = ("",)  # of numbers and costs: a text to fill in
    type: pa.DataType = TEXT  # in Parquet; always text in CSV

    def named(self, name: str) -> Column:
        return Column(name, self.by, self.values, self.type)


def always(name: str, value: str | None) -> Column:
    return Column(name, "always", (value,))


def by_kind(name: str, words: Mapping[Kind, str], default: str | None = None) -> Column:
    return Column(name, "kind", tuple(words.get(kind, default) for kind in Kind))


def by_customer(name: str, values: Sequence[str]) -> Column:
    return Column(name, "customer", tuple(values))


def by_product(name: str, values: Sequence[str | None]) -> Column:
    return Column(name, "product", tuple(values))


def by_hour(name: str, month: Month, written: Callable[[int], str]) -> Column:
    return Column(name, "hour", tuple(written(hour) for hour in range(len(month.hours))))


def by_tags(name: str, written: Callable[[Mapping[str, str]], str | None]) -> Column:
    return Column(name, "tags", tuple(written(tags) for tags in TAGS))


def of_customers(
    name: str, month: Month, kinds: Sequence[Kind], written: Callable[[str], str]
) -> Column:
    """Something each customer has, told on lines of these kinds."""
    values = [
        written(customer) if kind in kinds else None
        for kind in Kind
        for customer in month.customer_ids
    ]
    return Column(name, "kind customer", tuple(values))


def of_products(name: str, written: Callable[[Kind, int], str | None]) -> Column:
    values = [written(kind, product) for kind in Kind for product in range(len(PRODUCTS))]
    return Column(name, "kind product", tuple(values))


def of_kinds(name: str, kinds: Sequence[Kind], value: str) -> Column:
    return by_kind(name, dict.fromkeys(kinds, value))


def number(name: str, text: str = "{}") -> Column:
    """The line's number, in a text."""
    return Column(name, "number", (text,))


def cost(name: str, type_: pa.DataType) -> Column:
    return Column(name, "cost", ("{}",), type_)


# ── lines ────────────────────────────────────────────────────────────────────────────────────────


def csv_header(columns: Sequence[Column]) -> bytes:
    return (",".join(_quoted(column.name) for column in columns) + "\n").encode()


def csv_text(columns: Sequence[Column], block: Charges, month: Month) -> memoryview:
    """The block's lines. Neighbours that depend on the same are joined before, not line by line."""
    positions = _positions(block, month)
    pieces = [
        piece
        for by, together in groupby(columns, key=lambda column: column.by)
        for piece in _pieces(by, list(together), block, positions)
    ]
    lines = pc.binary_join_element_wise(*pieces, ",")
    whole = pa.ListArray.from_arrays(pa.array([0, len(lines)], pa.int32()), lines)
    return memoryview(pc.binary_join(whole, "\n")[0].as_buffer())


def _pieces(
    by: By, columns: Sequence[Column], block: Charges, positions: Mapping[str, pa.Array]
) -> Iterator[pa.Array]:
    if by == "number":
        for column in columns:
            yield _filled(column, block.number.cast(pa.string()))
    elif by == "cost":
        text = block.cost.cast(pa.string())
        yield from (text for _ in columns)
    else:
        joined = [
            ",".join(_quoted(_text(value)) for value in row)
            for row in zip(*(column.values for column in columns), strict=True)
        ]
        yield pa.array(joined).take(positions[by])


def _filled(column: Column, numbers: pa.Array) -> pa.Array:
    before, _, after = str(column.values[0]).partition("{}")
    return pc.binary_join_element_wise(before, numbers, after, "")


def _text(value: object) -> str:
    return "" if value is None else str(value)


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if re.search(r'[",\r\n]', text) else text


def arrow_table(columns: Sequence[Column], block: Charges, month: Month) -> pa.Table:
    positions = _positions(block, month)
    arrays = []
    for column in columns:
        if column.by == "number":
            arrays.append(_filled(column, block.number.cast(pa.string())))
        elif column.by == "cost":
            # by way of text: straight from decimals Arrow makes doubles that are a bit off
            cost = block.cost.cast(pa.string()) if column.type == DOUBLE else block.cost
            arrays.append(cost.cast(column.type))
        elif pa.types.is_string(column.type):
            # a few words, many times
            arrays.append(_words(column).take(positions[column.by]))
        else:
            arrays.append(pa.array(column.values, column.type).take(positions[column.by]))
    return pa.table(arrays, names=[column.name for column in columns])


def _words(column: Column) -> pa.DictionaryArray:
    """Each value once, and nothing for None."""
    values = [value if value is None else str(value) for value in column.values]
    return pa.array(values, column.type).dictionary_encode()


def _positions(block: Charges, month: Month) -> dict[str, pa.Array]:
    customers, products = len(month.customer_ids), len(PRODUCTS)
    return {
        "always": pa.repeat(pa.scalar(0, pa.int32()), len(block)),
        "kind": block.kind,
        "customer": block.customer,
        "product": block.product,
        "hour": block.hour,
        "tags": block.tags,
        "kind customer": pc.add(pc.multiply(block.kind, customers), block.customer),
        "kind product": pc.add(pc.multiply(block.kind, products), block.product),
    }
