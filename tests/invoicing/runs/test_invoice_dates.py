"""Issue dates in the time zone of the organisation, due dates across months and years."""

from __future__ import annotations

from datetime import UTC, date, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from nimbill.invoicing.documents.issuer import calculate_due_date
from nimbill.invoicing.runs import invoice_run
from tests.customers.invoice_templates.templates import create_template
from tests.imports.aws_reports import report_line
from tests.invoicing.month_end import MonthEnd

ACCOUNT = "000000000001"


def create_invoice_at(
    month_end: MonthEnd, monkeypatch: pytest.MonkeyPatch, at: datetime, **group: Any
) -> Any:
    monkeypatch.setattr(invoice_run, "clock", SimpleNamespace(now=lambda: at))
    company_id = month_end.create_group("BG-1", ACCOUNT, **group)
    month_end.import_costs(report_line("3", UsageAccountId=ACCOUNT))
    month_end.prepare_groups(company_id)
    assert month_end.create_invoices(company_id).status_code == 200
    return month_end.get_invoice(company_id)


def set_time_zone(month_end: MonthEnd, time_zone: str) -> None:
    assert month_end.put("/settings", {"time_zone": time_zone}).status_code == 200


@pytest.mark.parametrize(
    ("time_zone", "at", "issue_date"),
    [
        # already the next day, month and year in Tokyo
        ("Asia/Tokyo", datetime(2026, 10, 5, 15, 0, tzinfo=UTC), "2026-10-06"),
        ("Asia/Tokyo", datetime(2026, 10, 5, 14, 59, tzinfo=UTC), "2026-10-05"),
        ("Asia/Tokyo", datetime(2026, 12, 31, 15, 30, tzinfo=UTC), "2027-01-01"),
        # still the day before in New York, also when summer time ends
        ("America/New_York", datetime(2026, 11, 1, 3, 59, tzinfo=UTC), "2026-10-31"),
        ("America/New_York", datetime(2026, 11, 2, 4, 59, tzinfo=UTC), "2026-11-01"),
        ("UTC", datetime(2026, 10, 5, 23, 59, tzinfo=UTC), "2026-10-05"),
    ],
)
def test_the_issue_date_is_the_day_in_the_organisations_time_zone(
    month_end: MonthEnd,
    monkeypatch: pytest.MonkeyPatch,
    time_zone: str,
    at: datetime,
    issue_date: str,
) -> None:
    set_time_zone(month_end, time_zone)

    assert create_invoice_at(month_end, monkeypatch, at)["issue_date"] == issue_date


def test_the_due_date_is_counted_from_the_local_issue_date(
    month_end: MonthEnd, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In UTC the invoice would be issued in December and due at the end of January."""
    set_time_zone(month_end, "Asia/Tokyo")
    template = create_template(month_end.service, due_rule="end_of_next_month", due_days=None)

    invoice = create_invoice_at(
        month_end,
        monkeypatch,
        datetime(2026, 12, 31, 15, 30, tzinfo=UTC),
        invoice_template_id=template,
    )

    assert (invoice["issue_date"], invoice["due_date"]) == ("2027-01-01", "2027-02-28")


@pytest.mark.parametrize(
    ("issue_date", "due_date"),
    [
        (date(2026, 10, 31), "2026-11-30"),  # the next month is shorter
        (date(2026, 11, 1), "2026-12-31"),
        (date(2026, 11, 30), "2026-12-31"),
        (date(2026, 12, 1), "2027-01-31"),  # across the end of a year
        (date(2026, 12, 31), "2027-01-31"),
        (date(2027, 1, 31), "2027-02-28"),
        (date(2028, 1, 31), "2028-02-29"),  # a leap year
        (date(2100, 1, 15), "2100-02-28"),  # not a leap year
    ],
)
def test_due_at_the_end_of_the_next_month(issue_date: date, due_date: str) -> None:
    assert calculate_due_date({"due_rule": "end_of_next_month"}, issue_date) == due_date


@pytest.mark.parametrize(
    ("issue_date", "days", "due_date"),
    [
        (date(2026, 12, 15), 30, "2027-01-14"),
        (date(2026, 12, 31), 1, "2027-01-01"),
        (date(2026, 12, 31), 0, "2026-12-31"),
        (date(2027, 2, 15), 14, "2027-03-01"),
        (date(2028, 2, 15), 14, "2028-02-29"),
        (date(2027, 3, 1), 365, "2028-02-29"),
    ],
)
def test_due_after_a_number_of_days(issue_date: date, days: int, due_date: str) -> None:
    rule = {"due_rule": "days", "due_days": days}

    assert calculate_due_date(rule, issue_date) == due_date


def test_without_a_due_rule_there_is_no_due_date() -> None:
    assert calculate_due_date({}, date(2026, 12, 31)) is None
    assert calculate_due_date({"due_rule": None}, date(2026, 12, 31)) is None
