"""Invoices created and months closed at the edges of days and months."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import time_machine

from nimbill.foundation import calendar_month
from tests.identity.login.token_requests import client_form, issue_tokens
from tests.imports.aws_reports import report_line
from tests.invoicing.month_end import MONTH, MonthEnd
from tests.proof.row_environment import RowEnvironment

ACCOUNT = "111111111111"
TIME_ZONE = "Asia/Tokyo"  # of a new organisation
JAPAN = ZoneInfo(TIME_ZONE)
SECOND = timedelta(seconds=1)
_OVER = calendar_month.month_end(MONTH)
EDGES = (
    _OVER,
    datetime(2026, 10, 31, 15, 0, tzinfo=UTC),  # November begins in Japan
    datetime(2026, 12, 31, 15, 0, tzinfo=UTC),  # the new year begins in Japan
    datetime(2027, 1, 1, 0, 0, tzinfo=UTC),
    datetime(2028, 2, 28, 15, 0, tzinfo=UTC),  # a leap day begins in Japan
    datetime(2028, 2, 29, 15, 0, tzinfo=UTC),
    datetime(2038, 1, 19, 3, 14, 8, tzinfo=UTC),  # 2^31 seconds
)
MOMENTS = [edge + shift for edge in EDGES for shift in (-SECOND, timedelta(0), SECOND)]


def check_invoice_moments(environment: RowEnvironment) -> Iterator[tuple[str, bool]]:
    """Yield what was tried and whether it is right; the clock also jumps back."""
    service = environment.service
    service.organisation = service.new_organisation("T8 invoices")
    month_end = MonthEnd(service, environment.new_folder("t8"))
    group = month_end.create_group("BG-1", ACCOUNT)
    assert month_end.import_costs(report_line("10", UsageAccountId=ACCOUNT))["state"] == "done"
    month_end.prepare_groups(group)
    for moment in [*MOMENTS, *reversed(MOMENTS)]:
        with time_machine.travel(moment, tick=False):
            created = month_end.create_invoices(group, headers=_sign_in(month_end))
            invoice = month_end.get_invoice(group, headers=_sign_in(month_end))
        issued = date.fromisoformat(invoice["issue_date"])
        right = created.status_code == 200 and invoice["month"] == MONTH
        yield (
            f"invoices: {invoice['month']} issued {issued} at {moment}",
            (right and issued == moment.astimezone(JAPAN).date()),
        )
    yield from _close_at_the_end(month_end)


def _close_at_the_end(month_end: MonthEnd) -> Iterator[tuple[str, bool]]:
    """A month is over when it is over everywhere: by UTC, not by the clock of Japan."""
    in_japan = _OVER.replace(tzinfo=None).replace(tzinfo=JAPAN)
    for moment, expected in (
        (in_japan + SECOND, 409),
        (_OVER - SECOND, 409),
        (_OVER + SECOND, 200),
    ):
        with time_machine.travel(moment, tick=False):
            body = {"vendor": "aws"}
            closed = month_end.post(f"/invoices/close/{MONTH}", body, _sign_in(month_end))
        found = closed.status_code
        yield f"closings: {found} at {moment}", found == expected


def _sign_in(month_end: MonthEnd) -> dict[str, str]:
    """A token of this moment."""
    service = month_end.service
    token = issue_tokens(service, client_form(service.organisation))["access_token"]
    return {"Authorization": f"Bearer {token}"}
