"""The month's usage as lines of an invoice: per account or tag, service, and marketplace or not."""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from itertools import groupby
from typing import NamedTuple

from nimbill.foundation.basis import chosen
from nimbill.foundation.money import ONE, ExactAmount, sum_decimals, to_exact
from nimbill.invoicing.calculation.charges import UsageCharge
from nimbill.invoicing.calculation.terms import Terms

basis = chosen("invoice-arithmetic")


class ExactUsage(NamedTuple):
    """Exact and in the cost's currency: what will be printed as one line."""

    owner: tuple[bool, str]  # whose account, or which tag; what has no tag sorts behind
    customer_id: str
    customer_name: str
    tag: str
    service: str
    marketplace: bool
    cost: Decimal
    charge: ExactAmount
    after: ExactAmount
    sources: tuple[str, ...]


def group_usage(charges: Iterable[UsageCharge], terms: Terms) -> list[ExactUsage]:
    """In the order of the page, whatever the order of what came in."""
    by_tag = terms.calc_type == "tag"
    kept = ONE - to_exact(terms.discount_rate)

    def line_of(charge: UsageCharge) -> tuple[tuple[bool, str], str, bool]:
        owner = (charge.tag == "", charge.tag) if by_tag else (False, charge.customer_id)
        return owner, charge.service, charge.marketplace

    ordered = sorted(charges, key=lambda one: (line_of(one), one.customer_id, one.customer_name))
    return [
        _build_usage(owner, list(ones), by_tag=by_tag, kept=kept)
        for (owner, _, _), ones in groupby(ordered, key=line_of)
    ]


def total_charge(lines: Iterable[ExactUsage]) -> ExactAmount:
    """Together and before discount."""
    return to_exact(sum_decimals(line.cost for line in lines))


def _build_usage(
    owner: tuple[bool, str], charges: Sequence[UsageCharge], *, by_tag: bool, kept: ExactAmount
) -> ExactUsage:
    first = charges[0]
    cost = sum_decimals(charge.amount for charge in charges)
    charge = to_exact(cost)
    return ExactUsage(
        owner=owner,
        customer_id="" if by_tag else first.customer_id,
        customer_name="" if by_tag else first.customer_name,
        tag=first.tag if by_tag else "",
        service=first.service,
        marketplace=first.marketplace,
        cost=cost,
        charge=charge,
        after=charge * kept,
        sources=tuple(dict.fromkeys(_format_source(one) for one in charges)),
    )


def _format_source(charge: UsageCharge) -> str:
    return f"{charge.customer_id} {charge.service}{' marketplace' if charge.marketplace else ''}"
