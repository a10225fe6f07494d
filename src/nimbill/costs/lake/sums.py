"""The sums over cost lines, written once for every engine.

Each function takes the lines and returns what to ask; nothing is read here. A sum of decimals keeps
every digit but has no more room than one of them: where that might not do, the engine hands over
lines whose cost stands in two columns (see `wide.py`), and every sum below is asked for twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nimbill.costs.cost_line import RESERVATION_TEXTS, LineKind
from nimbill.costs.lake.decimal_overflow import WHOLE
from nimbill.foundation.basis import chosen

if TYPE_CHECKING:
    from ibis.expr.types import BooleanValue, Table, Value

basis = chosen("cost-sums")

RESERVATION_FEE = "RIFee"

_WHAT = ("payer_id", "customer_id", "line_type", "kind", "service", "marketplace")

# of a reservation, as written; a fee's own line knows best
_OF_RESERVATION = ("service", "usage_type", *RESERVATION_TEXTS)

_OF_ENTRY = (
    "part",
    "line",
    "payer_id",
    "customer_id",
    "billing_entity",
    "line_type",
    "entry_type",
    "service",
    "service_name",
    "usage_type",
    "description",
    "currency",
    "cost",
    "usage_start",
    "usage_end",
    "invoice_id",
)


def monthly_sums(lines: Table) -> Table:
    """Per account, line type, service, day (of the start, in UTC) and currency."""
    return lines.group_by(*_WHAT, day=lines.usage_start.date(), currency=lines.currency).aggregate(
        **_total(lines, "cost"), lines=lines.count()
    )


def tag_sums(lines: Table) -> Table:
    """The same by tag instead of day: a line counts once for each key it carries."""
    cost = [name for name in lines.columns if name in ("cost", "cost" + WHOLE)]
    keyed = lines.select(*_WHAT, "currency", *cost, "tags", tag_key=lines.tags.keys().unnest())
    tagged = keyed.select(
        *_WHAT,
        "currency",
        *cost,
        "tag_key",
        tag_value=keyed.tags[keyed.tag_key].fill_null(""),
    )
    return tagged.group_by(*_WHAT, "tag_key", "tag_value", "currency").aggregate(
        **_total(tagged, "cost"), lines=tagged.count()
    )


def payer_lines(lines: Table) -> Table:
    """Per payer: how many lines, and on how many the vendor's invoice id is not there yet."""
    return lines.group_by("payer_id").aggregate(
        lines=lines.count(), without_invoice_id=lines.count(where=lines.invoice_id.isnull())
    )


def entry_lines(lines: Table) -> Table:
    """Every one-off line, as it is: what recalculation entries are made from."""
    return lines.filter(lines.kind == LineKind.entry.value).select(
        *_OF_ENTRY, *(name for name in lines.columns if name == "cost" + WHOLE)
    )


def reservation_lines(lines: Table) -> Table:
    """Per reservation and account: its fee, how many instances, and what is known of it.

    `fee_lines` tells the owner, who is charged, from those who only use it.
    """
    reserved = lines.filter(lines.reservation_id.notnull())
    charged = (reserved.line_type == RESERVATION_FEE) | (reserved.kind == LineKind.entry.value)
    known = {name: _known(reserved[name], charged) for name in _OF_RESERVATION}
    return reserved.group_by("reservation_id", "payer_id", "customer_id", "currency").aggregate(
        **_total(reserved, "fee", where=reserved.kind == LineKind.usage.value),
        fee_lines=reserved.count(where=charged),
        lines=reserved.count(),
        number=_known(reserved.reservation_number, charged),
        first_use=reserved.usage_start.min(),
        last_use=reserved.usage_start.max(),
        **known,
    )


def _known(column: Value, charged: BooleanValue) -> Value:
    return column.max(where=charged).coalesce(column.max())


def _total(lines: Table, name: str, where: BooleanValue | None = None) -> dict[str, Value]:
    """The cost of these lines; a sum over none of them is nothing, not unknown."""
    columns = [column for column in ("cost", "cost" + WHOLE) if column in lines.columns]
    return {
        name + column.removeprefix("cost"): lines[column].sum(where=where).fill_null(0)
        for column in columns
    }
