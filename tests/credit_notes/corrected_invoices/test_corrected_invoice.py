"""Recalculating stored invoices, by example and against a second implementation."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nimbill.credit_notes.corrected_invoices.corrected_invoice import (
    correct_costs,
    correct_terms,
    list_changed_terms,
)
from nimbill.credit_notes.corrected_invoices.late_costs import combine_late_costs
from nimbill.credit_notes.corrections import list_corrected_amounts
from nimbill.credit_notes.credit_note_rules import (
    is_returnable,
    subtract_by_rate,
)
from nimbill.credit_notes.document import read_sums_by_rate
from nimbill.foundation.currency import Currency
from nimbill.invoicing.calculation.charges import MonthlyCharges, UsageCharge
from nimbill.invoicing.calculation.sheet import calculate_invoice
from nimbill.invoicing.calculation.terms import CannotBeBilled
from nimbill.invoicing.documents.document import (
    InvoiceDocument,
    VendorCharge,
    decode_document,
    encode_document,
)
from nimbill.invoicing.documents.late_cost import LateCost
from tests.credit_notes.corrected_invoices.independent_corrections import CorrectedInvoice
from tests.invoicing.invoice_builders import build_charge, build_terms
from tests.invoicing.random_documents import build_random_document

ACCOUNT = "111111111111"
NAMES = {"999999999999": "a new account"}


def late(
    amount: str | Decimal,
    service: str = "AmazonEC2",
    *,
    account: str = ACCOUNT,
    payer: str = "p",
    currency: str = "USD",
    one_off: bool = False,
) -> LateCost:
    return LateCost(
        payer_id=payer,
        customer_id=account,
        service=service,
        marketplace=False,
        currency=currency,
        amount=Decimal(amount),
        description="late",
        one_off=one_off,
    )


def build_invoice(*usage: UsageCharge, **terms: Any) -> InvoiceDocument:
    base = build_random_document(Random(1))
    own = build_terms(**terms)
    charges = MonthlyCharges(cost_currency=Currency.usd, usage=usage)
    return msgspec.structs.replace(
        base,
        currency=own.currency,
        cost_currency=Currency.usd,
        terms=own,
        charges=charges,
        sheet=calculate_invoice(charges, own),
        stock=[VendorCharge(currency="USD", amount=Decimal(10))],
    )


def read_usage(invoice: InvoiceDocument) -> dict[tuple[str, str, str], Decimal]:
    return {
        (charge.customer_id, charge.service, charge.tag): charge.amount
        for charge in invoice.charges.usage
    }


def test_late_usage_is_added_to_the_line_of_its_service() -> None:
    invoice = build_invoice(build_charge("10"), build_charge("5", service="AmazonS3"))

    corrected = correct_costs(invoice, [late("-2.5"), late("1", "AmazonS3")], {})

    assert read_usage(corrected) == {
        (ACCOUNT, "AmazonEC2", ""): Decimal("7.5"),
        (ACCOUNT, "AmazonS3", ""): 6,
    }
    assert corrected.sheet.total == Decimal("13.50")
    assert corrected.stock == [VendorCharge(currency="USD", amount=Decimal("8.5"))]
    assert decode_document(encode_document(corrected)) == corrected


def test_late_usage_of_a_new_account_has_its_name() -> None:
    corrected = correct_costs(build_invoice(), [late("3", account="999999999999")], NAMES)

    (line,) = corrected.sheet.lines
    assert (line.customer_name, line.after) == ("a new account", Decimal(3))


def test_late_usage_on_an_invoice_by_tag_has_no_tag() -> None:
    invoice = build_invoice(build_charge("10", tag="prod"), calc_type="tag")

    corrected = correct_costs(invoice, [late("-2")], {})

    assert read_usage(corrected) == {
        (ACCOUNT, "AmazonEC2", "prod"): 10,
        (ACCOUNT, "AmazonEC2", ""): -2,
    }


def test_one_off_lines_are_charged_like_entries() -> None:
    invoice = build_invoice(build_charge("10"), tax_rate=Decimal("0.10"))

    corrected = correct_costs(invoice, [late("2", one_off=True), late("-1", "x", one_off=True)], {})

    assert [(entry.calc_type, entry.amount) for entry in corrected.sheet.entries] == [
        ("Credit", Decimal(-1)),
        ("Fee", Decimal(2)),
    ]
    assert corrected.sheet.tax == Decimal("1.10")
    assert correct_costs(corrected, [], {}).sheet == invoice.sheet


def test_correcting_again_replaces_the_late_costs() -> None:
    invoice = build_invoice(build_charge("10"))
    first = correct_costs(invoice, [late("5"), late("1", one_off=True)], {})

    assert correct_costs(first, [late("2")], {}).charges.usage[0].amount == 12
    assert correct_costs(first, first.late_costs, {}) == first


def test_late_costs_in_another_currency_are_refused() -> None:
    invoice = build_invoice(build_charge("10"))

    for cost, reason in (
        (late("1", currency="JPY"), "mixed_currency"),
        (late("1", currency="EUR"), "unsupported_currency"),
        (late("1", currency="EUR", one_off=True), "unsupported_currency"),
    ):
        with pytest.raises(CannotBeBilled, match=reason):
            correct_costs(invoice, [cost], {})
    assert correct_costs(build_invoice(), [late("1", currency="JPY")], {}).cost_currency == "jpy"


def test_an_import_replaces_what_was_settled_for_its_payers() -> None:
    settled = [late("1"), late("2", payer="q"), late("3", one_off=True)]
    new = [late("9"), late("8", one_off=True)]

    def combine(*, one_off_lines: bool) -> list[int]:
        costs = combine_late_costs(new, settled, ["p"], one_off_lines=one_off_lines)
        return [int(cost.amount) for cost in costs]

    assert combine(one_off_lines=False) == [9, 2, 3]
    assert combine(one_off_lines=True) == [9, 8, 2]


def test_corrected_terms_keep_what_they_do_not_name() -> None:
    invoice = build_random_document(Random(5))
    setting = msgspec.structs.replace(invoice.setting, discount_rate=Decimal("0.25"))

    corrected = correct_terms(invoice, setting)
    with_support = correct_terms(invoice, setting, ("discounted", None))

    assert [each.field for each in list_changed_terms(invoice.terms, corrected.terms)] == [
        "discount_rate"
    ]
    assert (with_support.terms.support_basis, with_support.terms.support_scope) == (
        "discounted",
        None,
    )
    assert list_changed_terms(invoice.terms, invoice.terms) == []


AMOUNTS = st.decimals(-2000, 2000, places=4)
CHANGES = st.lists(st.tuples(st.integers(0, 7), AMOUNTS, st.booleans()), min_size=1, max_size=4)


@given(st.integers(0, 2**32), CHANGES, st.lists(st.integers(-5, 110), max_size=4))
def test_invoice_minus_notes_is_the_corrected_invoice_to_the_yen(
    seed: int, changes: list[tuple[int, Decimal, bool]], shares: list[int]
) -> None:
    invoice = build_random_document(Random(seed))
    code = {Currency.usd: "USD", Currency.jpy: "JPY"}[invoice.cost_currency]
    keys = [(each.customer_id, each.service) for each in invoice.charges.usage]
    costs = [
        late(
            amount,
            keys[index][1] if index < len(keys) else "new service",
            account=keys[index][0] if index < len(keys) else "999999999999",
            payer=str(number),
            currency=code,
            one_off=one_off,
        )
        for number, (index, amount, one_off) in enumerate(changes)
    ]
    corrected = correct_costs(invoice, costs, NAMES)
    other = CorrectedInvoice(invoice, costs)

    assert read_sums_by_rate(corrected) == other.corrected_sums()
    remaining = read_sums_by_rate(invoice)
    for share in shares:  # notes by hand before the correction
        note = other.credit_share(Fraction(share, 100))
        remaining = subtract_by_rate(remaining, note)
    difference = subtract_by_rate(remaining, read_sums_by_rate(corrected))

    assert is_returnable(difference, remaining) is other.can_correct()
    left = subtract_by_rate(remaining, difference)
    assert {rate: each for rate, each in left.items() if each} == {
        rate: each for rate, each in other.corrected_sums().items() if each
    }
    rows = list_corrected_amounts(invoice, [], corrected)
    for tax_free in (False, True):
        assert sum(row.amount for row in rows if row.tax_free is tax_free) == (
            other.difference(tax_free=tax_free)
        )
