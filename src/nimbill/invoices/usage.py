"""The month's usage as lines of an invoice: per account or tag, service, and marketplace or not."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import groupby

from nimbill.basis import chosen
from nimbill.invoices.charges import UsageCharge
from nimbill.invoices.terms import Terms
from nimbill.money import exact, total_of

basis = chosen("invoice-arithmetic")


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Exact and in the cost's currency: what will be printed as one line."""

    owner: tuple[bool, str]  # whose account, or which tag; what has no tag sorts behind
    customer_id: str
    customer_name: str
    tag: str
    service: str
    marketplace: bool
    cost: Decimal
    charge: Fraction
    after: Fraction
    sources: tuple[str, ...]


def usage_lines(charges: Iterable[UsageCharge], terms: Terms) -> list[Usage]:
    """In the order of the page, whatever the order of what came in."""
    by_tag = terms.calc_type == "tag"
    kept = 1 - exact(terms.discount_rate)

    def line_of(charge: UsageCharge) -> tuple[tuple[bool, str], str, bool]:
        owner = (charge.tag == "", charge.tag) if by_tag else (False, charge.customer_id)
        return owner, charge.service, charge.marketplace

    ordered = sorted(charges, key=lambda one: (line_of(one), one.customer_id, one.customer_name))
    return [
        _line(owner, list(ones), by_tag=by_tag, kept=kept)
        for (owner, _, _), ones in groupby(ordered, key=line_of)
    ]


def _line(
    owner: tuple[bool, str], charges: Sequence[UsageCharge], *, by_tag: bool, kept: Fraction
) -> Usage:
    first = charges[0]
    cost = total_of(charge.amount for charge in charges)
    return Usage(
        owner=owner,
        customer_id="" if by_tag else first.customer_id,
        customer_name="" if by_tag else first.customer_name,
        tag=first.tag if by_tag else "",
        service=first.service,
        marketplace=first.marketplace,
        cost=cost,
        charge=exact(cost),
        after=exact(cost) * kept,
        sources=tuple(dict.fromkeys(_source(charge) for charge in charges)),
    )


def _source(charge: UsageCharge) -> str:
    return f"{charge.customer_id} {charge.service}{' marketplace' if charge.marketplace else ''}"
