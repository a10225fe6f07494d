"""Groups the month's usage into invoice lines: per account or tag, service and marketplace."""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from itertools import groupby
from typing import NamedTuple

from nimbill.foundation.money import ONE, ExactAmount, sum_decimals, to_exact
from nimbill.invoicing.calculation.charges import UsageCharge
from nimbill.invoicing.calculation.terms import Terms


class ExactUsage(NamedTuple):
    """The usage of one invoice line, exact and in the currency of the costs."""

    owner: tuple[bool, str]  # account or tag; usage without a tag sorts last
    customer_id: str
    customer_name: str
    tag: str
    service: str
    marketplace: bool
    cost: Decimal
    charge: ExactAmount
    after: ExactAmount
    sources: tuple[str, ...]
    products: tuple[str, ...]


def group_usage(charges: Iterable[UsageCharge], terms: Terms) -> list[ExactUsage]:
    """Return the lines in page order, which does not depend on the input order."""
    by_tag = terms.calc_type == "tag"
    net_share = ONE - to_exact(terms.discount_rate)

    def line_key(charge: UsageCharge) -> tuple[tuple[bool, str], str, bool]:
        owner = (charge.tag == "", charge.tag) if by_tag else (False, charge.customer_id)
        return owner, charge.service, charge.marketplace

    ordered = sorted(
        charges, key=lambda charge: (line_key(charge), charge.customer_id, charge.customer_name)
    )
    return [
        _build_usage(owner, list(group), by_tag=by_tag, net_share=net_share)
        for (owner, _, _), group in groupby(ordered, key=line_key)
    ]


def total_charge(lines: Iterable[ExactUsage]) -> ExactAmount:
    """The sum of the lines before discount."""
    return to_exact(sum_decimals(line.cost for line in lines))


def _build_usage(
    owner: tuple[bool, str], charges: Sequence[UsageCharge], *, by_tag: bool, net_share: ExactAmount
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
        after=charge * net_share,
        sources=tuple(dict.fromkeys(_format_source(charge) for charge in charges)),
        products=tuple(sorted({name for charge in charges for name in charge.products})),
    )


def _format_source(charge: UsageCharge) -> str:
    return f"{charge.customer_id} {charge.service}{' marketplace' if charge.marketplace else ''}"
