"""Runs, invoices, credit notes and months are announced by webhooks."""

from __future__ import annotations

from typing import Any

import pytest

from tests.invoicing.invoice_runs import prepare_example_a
from tests.invoicing.month_end import MONTH, MonthEnd
from tests.problem_responses import read_problem
from tests.webhooks.published_events import list_published, subscribe


@pytest.fixture
def group(month_end: MonthEnd) -> str:
    company_id = prepare_example_a(month_end)
    subscribe(month_end.service)
    month_end.create_invoices(company_id)
    return company_id


def describe(group: str, **facts: Any) -> dict[str, Any]:
    invoice = {"month": MONTH, "company_id": group, "vendor": "aws"}
    return invoice | {"invoice_no": "202609-0001", "revision": 1} | facts


def test_a_run_announces_its_invoices_and_its_end(month_end: MonthEnd, group: str) -> None:
    month_end.create_invoices(group)

    first, finished, second, finished_again = list_published(month_end.service)
    run_id = finished[1]["run_id"]
    assert first == ("invoice.created", describe(group, run_id=run_id))
    assert finished == (
        "invoice_run.finished",
        {"run_id": run_id, "month": MONTH, "vendor": "aws", "groups": 1, "skipped": 0},
    )
    assert second[0] == "invoice.created"
    assert second[1]["revision"] == 2
    assert finished_again[1]["run_id"] == second[1]["run_id"] != run_id


def test_a_sent_invoice_is_announced_once(month_end: MonthEnd, group: str) -> None:
    path = f"/invoices/{MONTH}/{group}/aws/sent"
    month_end.put(path, {"revision": 1})
    month_end.put(path, {"revision": 1})

    events = list_published(month_end.service)[2:]
    assert events == [("invoice.sent", describe(group))]


def test_a_refused_change_is_not_announced(month_end: MonthEnd, group: str) -> None:
    before = list_published(month_end.service)

    read_problem(month_end.put(f"/invoices/{MONTH}/{group}/aws/sent", {"revision": 7}), 404)

    assert list_published(month_end.service) == before


def test_a_cancelled_invoice_is_announced(month_end: MonthEnd, group: str) -> None:
    month_end.put(f"/invoices/{MONTH}/{group}/aws/sent", {"revision": 1})
    answer = month_end.put(f"/invoices/{MONTH}/{group}/aws/cancelled", {"reason": "a mistake"})
    assert answer.status_code == 200, answer.text

    assert list_published(month_end.service)[-1] == ("invoice.cancelled", describe(group))


def test_a_credit_note_is_announced_with_its_invoice(month_end: MonthEnd, group: str) -> None:
    month_end.put(f"/invoices/{MONTH}/{group}/aws/sent", {"revision": 1})
    body = {"kind": "full", "reason": "a mistake"}
    answer = month_end.post(f"/invoices/{MONTH}/{group}/aws/credit-notes", body)
    assert answer.status_code == 201, answer.text

    note = answer.json()
    numbers = {name: note[name] for name in ("credit_note_id", "credit_note_no")}
    assert list_published(month_end.service)[-1] == (
        "credit_note.issued",
        describe(group, **numbers),
    )


def test_a_month_is_announced_when_it_is_closed_and_reopened(month_end: MonthEnd) -> None:
    subscribe(month_end.service)
    body = {"vendor": "aws", "override": True, "reason": "a test"}
    month_end.post(f"/invoices/close/{MONTH}", body)
    month_end.post(f"/invoices/reopen/{MONTH}", body)

    assert list_published(month_end.service) == [
        ("month.closed", {"month": MONTH, "vendor": "aws", "closing_number": 1}),
        ("month.reopened", {"month": MONTH, "vendor": "aws"}),
    ]
