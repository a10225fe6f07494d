"""Lists the late costs of a month that somebody decided about, at cost."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from decimal import Decimal

from nimbill.closing.reconciliation.bodies import TieOutLateCost
from nimbill.credit_notes.corrected_invoices.records import DriftDecisionKind, decode_late_costs
from nimbill.database.tenant_scope import Row
from nimbill.foundation.money import add_decimals, strip_zeros, subtract_decimals
from nimbill.foundation.vendors import Vendor

ZERO = Decimal(0)


def list_late_costs(vendor: Vendor, decisions: Iterable[Row]) -> Iterator[TieOutLateCost]:
    """Yield what each decision adds to the one before for the same invoice, the oldest first.

    A decision contains everything that is settled with it. What was dismissed settles nothing.
    """
    settled: dict[tuple[str, str], dict[str, Decimal]] = {}
    for row in decisions:
        costs = _sum_costs(row.late_costs)
        before: dict[str, Decimal] = {}
        if row.decision != DriftDecisionKind.dismissed:
            before = settled.pop((row.company_id, row.invoice_no), {})
            settled[row.company_id, row.replacement_no or row.invoice_no] = costs
        for currency in sorted(costs.keys() | before.keys()):
            amount = subtract_decimals(costs.get(currency, ZERO), before.get(currency, ZERO))
            yield TieOutLateCost(
                vendor=vendor,
                import_id=row.import_id,
                company_id=row.company_id,
                invoice_no=row.invoice_no,
                decision=DriftDecisionKind(row.decision),
                currency=currency,
                amount=strip_zeros(amount),
            )


def _sum_costs(late_costs: str) -> dict[str, Decimal]:
    sums: defaultdict[str, Decimal] = defaultdict(Decimal)
    for cost in decode_late_costs(late_costs):
        sums[cost.currency] = add_decimals(sums[cost.currency], cost.amount)
    return dict(sums)
