"""Entries applied to a month are compared with those on its invoices."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from nimbill.closing.reconciliation.applied_entries import (
    BilledEntry,
    EntryDifference,
    InvoicedEntries,
    compare_entries,
)

FEE = BilledEntry(
    entry_id="ent_1",
    customer_id="A",
    currency="USD",
    amount=Decimal(672),
    exchange_rate=Decimal(0),
    tax_free=False,
)
GROUPS = {"A": "cmp_1"}


def invoice(*entries: BilledEntry, company_id: str = "cmp_1") -> InvoicedEntries:
    return InvoicedEntries(company_id=company_id, invoice_no=f"no_{company_id}", entries=entries)


def only(found: list[EntryDifference]) -> EntryDifference:
    (one,) = found
    return one


def test_an_entry_on_the_invoice_of_its_group_ties() -> None:
    same = replace(FEE, amount=Decimal("672.00"))

    assert compare_entries([FEE], [invoice(same)], GROUPS) == []
    assert compare_entries([], [], GROUPS) == []


def test_an_entry_applied_after_the_invoice_is_not_on_it() -> None:
    one = only(compare_entries([FEE], [invoice()], GROUPS))

    assert (one.reason, one.company_id, one.invoice_no) == (
        *("entry_not_on_invoice", "cmp_1", "no_cmp_1"),
    )
    assert [one.invoiced, one.applied, one.amount] == [0, 672, 672]


def test_an_entry_of_a_group_without_an_invoice_needs_one() -> None:
    one = only(compare_entries([FEE], [invoice(company_id="cmp_2")], GROUPS))

    assert (one.reason, one.company_id, one.invoice_no) == ("invoice_missing", "cmp_1", None)


def test_an_applied_entry_of_an_account_in_no_group_is_billed_to_nobody() -> None:
    one = only(compare_entries([FEE], [invoice()], {}))

    assert (one.reason, one.company_id, one.invoice_no) == ("entry_not_on_invoice", None, None)


def test_an_account_that_left_its_group_stays_on_its_invoice() -> None:
    assert compare_entries([FEE], [invoice(FEE)], {}) == []


def test_an_entry_taken_back_after_the_invoice_is_not_applied() -> None:
    one = only(compare_entries([], [invoice(FEE)], GROUPS))

    assert (one.reason, one.invoice_no) == ("entry_not_applied", "no_cmp_1")
    assert one.amount == -672


@pytest.mark.parametrize(
    "changed",
    [
        replace(FEE, exchange_rate=Decimal(150)),
        replace(FEE, tax_free=True),
        replace(FEE, amount=Decimal(700)),
    ],
)
def test_an_entry_applied_again_with_other_terms_is_changed(changed: BilledEntry) -> None:
    one = only(compare_entries([changed], [invoice(FEE)], GROUPS))

    assert one.reason == "entry_changed"
    assert one.amount == changed.amount - FEE.amount


def test_an_entry_on_two_invoices_is_invoiced_twice() -> None:
    invoices = [invoice(FEE), invoice(FEE, company_id="cmp_2")]

    one = only(compare_entries([FEE], invoices, GROUPS))

    assert (one.reason, one.company_id) == ("entry_invoiced_twice", "cmp_2")
    assert one.amount == -672
