"""Credit notes that correct a sent invoice to one under other terms."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from tests.credit_notes.corrected_invoices.late_deliveries import (
    REASON,
    corrected_terms,
    figures,
    issue,
    path_of,
    prepare_sent_invoice,
    preview,
    read,
)
from tests.invoicing.month_end import MonthEnd
from tests.invoicing.pdf.pdf_text import extract_text, remove_whitespace
from tests.problem_responses import read_problem, read_violations

MORE_DISCOUNT = corrected_terms(discount_rate=Decimal("0.10"))


@pytest.fixture
def group(month_end: MonthEnd) -> str:
    return prepare_sent_invoice(month_end, closed=False)


def request(month_end: MonthEnd, group: str, **more: Any) -> Any:
    body = {"kind": "correction", "reason": REASON, **more}
    return month_end.post(path_of(group, "/credit-notes"), body)


def test_invoice_and_note_add_up_to_the_corrected_invoice(month_end: MonthEnd, group: str) -> None:
    note = issue(month_end, group, "correction", terms=MORE_DISCOUNT)

    # 173156 - 164044 and 17316 - 16404; 9112 × 0.10 would be 911
    assert figures(note) == (9112, 912, 10024)
    (tax,) = note["taxes"]
    assert (tax["tax_rate"], tax["pre_tax"], tax["tax"]) == (Decimal("0.10"), 9112, 912)
    correction = note["correction"]
    assert (correction["corrected_total"], correction["import_id"]) == (180448, None)
    assert [each["field"] for each in correction["changed_terms"]] == ["discount_rate"]
    assert preview(month_end, group, terms=MORE_DISCOUNT)["difference"] == 0


def test_the_rows_of_the_note_add_up_to_its_amount(month_end: MonthEnd, group: str) -> None:
    issue(
        month_end, group, "manual", amounts=[{"description": "d", "amount": 100, "tax_free": False}]
    )

    note = issue(month_end, group, "correction", terms=MORE_DISCOUNT)

    rows = {
        row["credit_note_no"] or row["line"] or row["description"]: row["amount"]
        for row in note["amounts"]
    }
    assert sum(rows.values()) == note["pre_tax"] == 9012
    assert (rows["usage-1"], rows["support"]) == (142755 - 135242, 15283 - 14479)
    (earlier,) = [name for name in rows if name.startswith("CN")]
    assert rows[earlier] == -100


def test_notes_of_every_kind_and_the_correction_add_up(month_end: MonthEnd, group: str) -> None:
    notes = [
        issue(
            month_end,
            group,
            "manual",
            amounts=[{"description": "d", "amount": 1005, "tax_free": False}],
        ),
        issue(month_end, group, "correction", terms=MORE_DISCOUNT),
        issue(month_end, group, "full"),
    ]

    assert [sum(column) for column in zip(*map(figures, notes), strict=True)] == [
        173156,
        17316,
        190472,
    ]
    state = read(month_end.get(path_of(group, "/state")))
    assert (state["state"], state["credited"]) == ("credited", 190472)


def test_a_higher_invoice_is_not_credited(month_end: MonthEnd, group: str) -> None:
    higher = request(month_end, group, terms=corrected_terms(discount_rate=0))
    other_rate = request(month_end, group, terms=corrected_terms(tax_rate=Decimal("0.08")))
    unchanged = request(month_end, group, terms=corrected_terms())

    assert read_problem(higher, 409)["code"] == "corrected_is_higher"
    assert read_problem(other_rate, 409)["code"] == "corrected_is_higher"
    assert read_problem(unchanged, 409)["code"] == "nothing_to_credit"
    assert month_end.get(path_of(group, "/credit-notes")).json() == []


def test_a_refused_correction_uses_no_number(month_end: MonthEnd, group: str) -> None:
    for discount in ("0.06", "0.01", "0.07", "0.07", "0.08"):
        terms = corrected_terms(discount_rate=Decimal(discount))
        assert request(month_end, group, terms=terms).status_code in (201, 409)

    notes = month_end.get(path_of(group, "/credit-notes")).json()

    assert [note["credit_note_no"][-4:] for note in notes] == ["0001", "0002", "0003"]


def test_the_printed_note_shows_the_corrected_total(month_end: MonthEnd, group: str) -> None:
    note = issue(month_end, group, "correction", terms=MORE_DISCOUNT)

    pdf = month_end.get(f"/credit-notes/{note['credit_note_id']}/pdf").content

    text = remove_whitespace(extract_text(pdf))
    for part in ("訂正後のご請求額（税込）", "180,448", "AmazonEC2", "7,513", "10,024"):
        assert remove_whitespace(part) in text, part


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({}, "terms"),
        ({"terms": MORE_DISCOUNT, "lines": ["usage-1"]}, "lines"),
        ({"kind": "full", "terms": MORE_DISCOUNT}, "terms"),
        ({"terms": corrected_terms(currency="usd")}, "terms.invoices.currency"),
        (
            {"terms": corrected_terms(substitution_fee_target_usage="nondiscount")},
            "terms.invoices.substitution_fee_target_usage",
        ),
    ],
)
def test_bad_requests_are_refused(
    shared_month_end: MonthEnd, shared_group: str, more: dict[str, Any], field: str
) -> None:
    assert field in dict(read_violations(request(shared_month_end, shared_group, **more)))


@pytest.fixture(scope="module")
def shared_group(shared_month_end: MonthEnd) -> str:
    return prepare_sent_invoice(shared_month_end, closed=False)
