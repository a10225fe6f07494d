"""The month's usage as lines of an invoice: per account or tag, service, and marketplace or not."""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from itertools import groupby
from typing import NamedTuple

from nimbill.foundation.basis import chosen
from nimbill.foundation.money import ONE, Exact, exact, total_of
from nimbill.invoicing.calculation.charges import UsageCharge
from nimbill.invoicing.calculation.terms import Terms

basis = chosen("invoice-arithmetic")


class Usage(NamedTuple):
    """Exact and in the cost's currency: what will be printed as one line."""

    owner: tuple[bool, str]  # whose account, or which tag; what has no tag sorts behind
    customer_id: str
    customer_name: str
    tag: str
    service: str
    marketplace: bool
    cost: Decimal
    charge: Exact
    after: Exact
    sources: tuple[str, ...]


def usage_lines(charges: Iterable[UsageCharge], terms: Terms) -> list[Usage]:
    """In the order of the page, whatever the order of what came in."""
    by_tag = terms.calc_type == "tag"
    kept = ONE - exact(terms.discount_rate)

    def line_of(charge: UsageCharge) -> tuple[tuple[bool, str], str, bool]:
        owner = (charge.tag == "", charge.tag) if by_tag else (False, charge.customer_id)
        return owner, charge.service, charge.marketplace

    ordered = sorted(charges, key=lambda one: (line_of(one), one.customer_id, one.customer_name))
    return [
        _line(owner, list(ones), by_tag=by_tag, kept=kept)
        for (owner, _, _), ones in groupby(ordered, key=line_of)
    ]


def charged(lines: Iterable[Usage]) -> Exact:
    """Together and before discount."""
    return exact(total_of(line.cost for line in lines))


def _line(
    owner: tuple[bool, str], charges: Sequence[UsageCharge], *, by_tag: bool, kept: Exact
) -> Usage:
    first = charges[0]
    cost = total_of(charge.amount for charge in charges)
    charge = exact(cost)
    return Usage(
        owner=owner,
        customer_id="" if by_tag else first.customer_id,
        customer_name="" if by_tag else first.customer_name,
        tag=first.tag if by_tag else "",
        service=first.service,
        marketplace=first.marketplace,
        cost=cost,
        charge=charge,
        after=charge * kept,
        sources=tuple(dict.fromkeys(_source(one) for one in charges)),
    )


def _source(charge: UsageCharge) -> str:
    return f"{charge.customer_id} {charge.service}{' marketplace' if charge.marketplace else ''}"
