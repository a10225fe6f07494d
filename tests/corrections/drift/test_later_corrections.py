"""A second correction of an invoice starts from the first one."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from tests.credit_notes.corrected_invoices.late_deliveries import (
    REASON,
    corrected_terms,
    figures,
    import_late,
    issue,
    late_lines,
    path_of,
    prepare_sent_invoice,
    read,
)
from tests.invoicing.month_end import EXAMPLE_A, MONTH, MonthEnd

LOWER = "900.1234567890"
MORE_DISCOUNT = corrected_terms(discount_rate=Decimal("0.10"))
# Example A with 900.12 dollars of AmazonEC2 and a discount of 10 %: usage 131263.78 yen, support
# 13522.50 (the least, 100 dollars), agency fee 4343.59. Each is rounded.
BOTH_CORRECTED = (131264 + 13523 + 4344, 14913, 164044)


@pytest.fixture
def group(month_end: MonthEnd) -> str:
    return prepare_sent_invoice(month_end)


def decide(month_end: MonthEnd, import_id: str, group: str, **body: Any) -> Any:
    path = f"/costs/imports/{import_id}/drift/{group}"
    return read(month_end.post(path, {"reason": REASON, **body}), 201)


def owed(month_end: MonthEnd, group: str) -> tuple[Any, ...]:
    """Return the invoice minus its notes: before tax, tax, total."""
    invoice = month_end.get_invoice(group)["sheet"]
    notes = [
        read(month_end.get(f"/credit-notes/{note['credit_note_id']}"))
        for note in read(month_end.get(path_of(group, "/credit-notes")))
    ]
    columns = zip(*[figures(note) for note in notes], strict=True)
    return tuple(
        before - sum(returned) for before, returned in zip(figures(invoice), columns, strict=True)
    )


def test_late_costs_are_calculated_with_the_corrected_terms(
    month_end: MonthEnd, group: str
) -> None:
    issue(month_end, group, "correction", terms=MORE_DISCOUNT)
    decide(month_end, import_late(month_end, *late_lines(LOWER)), group, decision="credit_note")

    assert owed(month_end, group) == BOTH_CORRECTED


def test_corrected_terms_are_calculated_with_the_settled_costs(
    month_end: MonthEnd, group: str
) -> None:
    decide(month_end, import_late(month_end, *late_lines(LOWER)), group, decision="credit_note")
    note = issue(month_end, group, "correction", terms=MORE_DISCOUNT)

    assert owed(month_end, group) == BOTH_CORRECTED
    assert [each["field"] for each in note["correction"]["changed_terms"]] == ["discount_rate"]


def test_late_costs_that_the_vendor_takes_back_are_charged_again(
    month_end: MonthEnd, group: str
) -> None:
    first = import_late(month_end, *late_lines(LOWER))
    decide(month_end, first, group, decision="credit_note")

    taken_back = import_late(month_end, *reversed(EXAMPLE_A))

    (listed,) = read(month_end.get(f"/costs/imports/{taken_back}/drift"))
    assert (listed["company_id"], listed["late_costs"]) == (group, [])
    month = read(month_end.get(f"/months/{MONTH}?vendor=aws"))
    assert "drift_uncorrected" in str(month)
    decision = decide(month_end, taken_back, group, decision="entry", entry_month="2026-10")
    assert decision["pre_tax"] == 15741  # what the note returned before tax
    (listed,) = read(month_end.get(f"/costs/imports/{taken_back}/drift"))
    assert listed["decision"] == decision
    assert "drift_uncorrected" not in str(read(month_end.get(f"/months/{MONTH}?vendor=aws")))


def test_nothing_has_to_be_decided_if_nothing_was_settled(month_end: MonthEnd, group: str) -> None:
    first = import_late(month_end, *late_lines(LOWER))
    decide(month_end, first, group, decision="dismissed")

    taken_back = import_late(month_end, *reversed(EXAMPLE_A))

    assert read(month_end.get(f"/costs/imports/{taken_back}/drift")) == []
    assert "drift_uncorrected" not in str(read(month_end.get(f"/months/{MONTH}?vendor=aws")))
