"""A sent invoice of a closed month, and late deliveries that change its costs."""

from __future__ import annotations

from typing import Any

from nimbill.foundation import exact_json
from tests.costs.months.month_requests import close_month
from tests.imports.aws_reports import report_line
from tests.invoicing.invoice_runs import prepare_example_a
from tests.invoicing.month_end import EXAMPLE_A, MONTH, SETTING, MonthEnd

REASON = "The vendor corrected its bill."


def late_lines(ec2: str, *more: dict[str, str]) -> tuple[dict[str, str], ...]:
    """The costs of example A with another amount of AmazonEC2."""
    return (report_line(ec2, UsageAccountId="111111111111"), *EXAMPLE_A[1:], *more)


def path_of(group: str, rest: str, month: str = MONTH) -> str:
    return f"/invoices/{month}/{group}/aws{rest}"


def send_invoice(month_end: MonthEnd, group: str, revision: int = 1) -> None:
    response = month_end.put(path_of(group, "/sent"), {"revision": revision})
    assert response.status_code == 200, response.text


def prepare_sent_invoice(month_end: MonthEnd, *, closed: bool = True) -> str:
    """Example A, sent: 173156 before tax, 17316 tax, 190472 in total."""
    group = prepare_example_a(month_end)
    month_end.create_invoices(group)
    send_invoice(month_end, group)
    if closed:
        assert close_month(month_end.service, MONTH).status_code == 200
    return group


def import_late(month_end: MonthEnd, *lines: dict[str, str]) -> str:
    """Import costs of the closed month; return the import_id."""
    record = month_end.import_costs(*lines)
    assert record["state"] == "drift", record
    return str(record["import_id"])


def corrected_terms(**changes: Any) -> dict[str, Any]:
    return {"vendor": "aws", "invoices": SETTING | changes}


def read(response: Any, status: int = 200) -> Any:
    assert response.status_code == status, response.text
    return exact_json.decode_stored(response.text)


def preview(month_end: MonthEnd, group: str, **body: Any) -> Any:
    return read(month_end.post(path_of(group, "/correction-preview"), body))


def issue(month_end: MonthEnd, group: str, kind: str, **more: Any) -> Any:
    body = {"kind": kind, "reason": REASON, **more}
    return read(month_end.post(path_of(group, "/credit-notes"), body), 201)


def figures(note: Any) -> tuple[Any, ...]:
    return note["pre_tax"], note["tax"], note["total"]
