"""POST /m/core/invoicetemplate/preview"""

from __future__ import annotations

from typing import Any

import pytest

from nimbill.access.role_actions import RoleAction
from tests.invoicing.month_end import MonthEnd
from tests.invoicing.pdf.pdf_text import extract_text, remove_whitespace
from tests.problem_responses import read_violations

TEMPLATE = {
    "name": "Standard",
    "company": "青空クラウド株式会社",
    "registration_number": "T7000012050002",
    "bank_account": "みらい銀行 本店 普通 1234567",
    "notes": "振込手数料はご負担ください。",
    "due_rule": "days",
    "due_days": 30,
    "accent_colour": "#aa0000",
}


def send(month_end: MonthEnd, query: str = "", headers: Any = None, **fields: Any) -> Any:
    return month_end.post(f"/invoicetemplate/preview{query}", TEMPLATE | fields, headers)


def read_text(response: Any) -> str:
    assert response.status_code == 200, response.text
    assert response.headers["content-type"] == "application/pdf"
    return remove_whitespace(extract_text(response.content))


@pytest.mark.parametrize(
    ("query", "mark", "customer"),
    [("", "見本SAMPLE", "見本商事株式会社"), ("?language=en", "SAMPLE", "SampleTradingLtd.")],
)
def test_a_template_is_shown_on_an_invented_invoice_that_is_marked(
    shared_month_end: MonthEnd, query: str, mark: str, customer: str
) -> None:
    text = read_text(send(shared_month_end, query))

    for expected in (mark, customer, "SAMPLE-0001"):
        assert expected in text, expected
    for name in ("company", "registration_number", "bank_account", "notes"):
        assert remove_whitespace(str(TEMPLATE[name])) in text, name


def test_a_preview_stores_neither_a_template_nor_an_audit_row(shared_month_end: MonthEnd) -> None:
    before = shared_month_end.get("/audit").json()

    read_text(send(shared_month_end))

    assert shared_month_end.get("/audit").json() == before
    assert shared_month_end.get("/invoicetemplate").json() == []


def test_a_repeat_with_the_same_key_is_answered_with_the_same_pdf(
    shared_month_end: MonthEnd,
) -> None:
    headers = shared_month_end.service.root() | {"Idempotency-Key": "sample"}
    first, second = (send(shared_month_end, headers=headers) for _ in range(2))

    assert second.headers["idempotent-replayed"] == "true"
    assert second.content == first.content
    assert second.headers["content-type"] == "application/pdf"


def test_what_saving_the_template_refuses_is_refused(shared_month_end: MonthEnd) -> None:
    body = TEMPLATE | {"accent_colour": "red", "due_days": 999}
    saving = shared_month_end.post("/invoicetemplate", body)

    response = send(shared_month_end, accent_colour="red", due_days=999)

    assert read_violations(response) == read_violations(saving) != []


def test_a_restricted_caller_can_look_at_a_template(shared_month_end: MonthEnd) -> None:
    group = shared_month_end.create_group("BG-1")
    headers = shared_month_end.service.caller(RoleAction.ModifyBillingGroup, billing_groups=[group])

    assert send(shared_month_end, headers=headers).status_code == 200
