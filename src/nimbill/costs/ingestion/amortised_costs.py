"""Recognises amortised costs by content: without a manifest nothing else tells them apart."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from nimbill.costs.formats.format import AmortisedCosts, Format
from nimbill.costs.ingestion.arrow_arrays import first_true

# See docs/choices.md, amortised-costs.

COVERED = "this line is usage that a reservation or savings plan covers, and its cost is not 0"


class AmortisedLine(NamedTuple):
    row: int
    field: str  # the field that shows it
    reason: str


def find_amortised_line(
    format_: Format,
    vendor: str,
    fields: Mapping[str, pa.Array],
    *,
    line_type: pa.DictionaryArray,
    costs: Mapping[str, pa.Array],
) -> AmortisedLine | None:
    """Return the first line that only amortised costs have; `costs` are the parsed amounts."""
    found = []
    for name in format_.amortised_types:
        row = first_true(_is_type(line_type, (name,)))
        if row >= 0:
            found.append(
                AmortisedLine(row, "line_type", f"only such files have the charge type {name}")
            )
    signs = format_.amortised
    if signs is not None and (signs.vendors is None or vendor in signs.vendors):
        row = _find_covered_cost(signs, fields, line_type, costs)
        if row >= 0:
            found.append(AmortisedLine(row, "cost", COVERED))
    return min(found, default=None)


def _find_covered_cost(
    signs: AmortisedCosts,
    fields: Mapping[str, pa.Array],
    line_type: pa.DictionaryArray,
    costs: Mapping[str, pa.Array],
) -> int:
    """Return the first line of covered usage that has a cost, or -1."""
    is_covered = _is_type(line_type, signs.line_types)
    if signs.field is not None:
        is_covered = pc.and_(is_covered, _says_covered(signs, fields, len(line_type)))
    if not pc.any(is_covered).as_py():
        return -1
    has_cost = pc.not_equal(costs["cost"], pa.scalar(0, costs["cost"].type))
    if signs.equals_field is not None:
        has_cost = pc.and_(has_cost, pc.equal(costs["cost"], costs[signs.equals_field]))
    return first_true(pc.and_(is_covered, has_cost.fill_null(False)))


def _is_type(line_type: pa.DictionaryArray, names: Collection[str]) -> pa.Array:
    matches = pc.is_in(line_type.dictionary, pa.array(list(names), pa.string()))
    return matches.take(line_type.indices).fill_null(False)


def _says_covered(signs: AmortisedCosts, fields: Mapping[str, pa.Array], count: int) -> pa.Array:
    """Compare without case and spaces: both `SavingsPlan` and `Savings Plan` exist."""
    says = pa.nulls(count, pa.bool_())
    column = fields.get(signs.field or "")
    if column is not None:
        texts = [(text or "").lower().replace(" ", "") for text in column.dictionary.to_pylist()]
        says = pa.array([text in signs.values for text in texts], pa.bool_()).take(column.indices)
    ids = fields.get(signs.id_field or "")
    if ids is not None:
        says = pc.coalesce(says, ids.is_valid())
    return says.fill_null(False)
