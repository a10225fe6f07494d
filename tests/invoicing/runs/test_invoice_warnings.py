"""An invoice without details of its issuer is created with a warning."""

from __future__ import annotations

from typing import Any

import pytest

from tests.customers.invoice_templates.templates import create_template
from tests.invoicing.invoice_runs import prepare_example_a
from tests.invoicing.month_end import MonthEnd


def link_template(month_end: MonthEnd, group: str, template_id: str) -> None:
    body = {"invoice_template_id": template_id}
    assert month_end.post(f"/billinggroup/{group}/invoicetemplate", body).status_code == 200


def create_warnings(month_end: MonthEnd, group: str) -> Any:
    response = month_end.create_invoices(group)
    assert response.status_code == 200, response.text
    return response.json()["warnings"]


def test_an_invoice_without_a_template_has_no_issuer(month_end: MonthEnd) -> None:
    group = prepare_example_a(month_end)

    (warning,) = create_warnings(month_end, group)

    assert warning["code"] == "issuer_missing"
    assert (warning["company_id"], warning["invoice_no"]) == (group, "202609-0001")
    assert "invoice template" in warning["detail"]


def test_an_issuer_without_registration_number_is_a_warning(month_end: MonthEnd) -> None:
    group = prepare_example_a(month_end)
    link_template(month_end, group, create_template(month_end.service, registration_number=None))

    (warning,) = create_warnings(month_end, group)

    assert warning["code"] == "registration_number_missing"


@pytest.mark.parametrize("place", ["group", "settings"])
def test_a_complete_template_gives_no_warning(month_end: MonthEnd, place: str) -> None:
    group = prepare_example_a(month_end)
    template_id = create_template(month_end.service)
    if place == "group":
        link_template(month_end, group, template_id)
    else:
        changed = month_end.put("/settings", {"invoice_template_id": template_id})
        assert changed.status_code == 200

    assert create_warnings(month_end, group) == []


def test_a_repeat_with_the_same_key_repeats_the_warnings(month_end: MonthEnd) -> None:
    group = prepare_example_a(month_end)
    headers = month_end.service.root() | {"Idempotency-Key": "once"}

    first, second = (month_end.create_invoices(group, headers=headers) for _ in range(2))

    assert first.json()["warnings"]
    assert second.text == first.text
