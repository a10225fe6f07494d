"""GET /m/portal/usage/focus"""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest

from nimbill.costs import focus_columns
from nimbill.portal.reports.focus_csv import COLUMNS
from tests.invoicing.exports.export_requests import parse_rows
from tests.invoicing.month_end import MONTH
from tests.portal.daily_costs import fix_today
from tests.portal.portal_customer import PORTAL
from tests.portal.portal_scene import PortalScene
from tests.problem_responses import read_problem


def test_the_file_has_every_required_column_and_no_unit_price() -> None:
    required = {name for name, column in focus_columns.COLUMNS.items() if not column.nullable}

    assert required <= set(COLUMNS) <= set(focus_columns.COLUMNS)
    assert [name for name in COLUMNS if "UnitPrice" in name or "Sku" in name] == []
    assert list(COLUMNS) == sorted(COLUMNS)


def test_the_rows_add_up_to_the_invoice(scene: PortalScene) -> None:
    invoice = scene.customer.month_end.get_invoice(scene.customer.company_id)

    response = scene.request("GET", f"/usage/focus?month={MONTH}")

    header, *rows = parse_rows(response.content)
    records = [dict(zip(header, row, strict=True)) for row in rows]
    assert tuple(header) == COLUMNS
    assert sum(Decimal(row["BilledCost"]) for row in records) == invoice["sheet"]["total"]
    assert {row["BillingAccountId"] for row in records} == {scene.customer.company_id}
    assert {row["BillingPeriodStart"] for row in records} == {"2026-09-01T00:00:00Z"}
    assert {row["BillingPeriodEnd"] for row in records} == {"2026-10-01T00:00:00Z"}
    assert {row["BillingCurrency"] for row in records} == {"JPY"}
    assert response.headers["content-disposition"] == 'attachment; filename="focus-2026-09.csv"'


@pytest.mark.parametrize("month", ["2026-08", "2026-12", "9999-12"])
def test_a_month_without_invoice_is_refused_with_what_to_do(scene: PortalScene, month: str) -> None:
    problem = read_problem(scene.request("GET", f"/usage/focus?month={month}"), 404)

    assert problem["code"] == "no_invoices"
    assert "This month has no invoice yet" in problem["detail"]
    for path in ("/invoices", "/usage/report"):
        assert f"GET {PORTAL}{path}" in problem["detail"]
        assert scene.request("GET", path).status_code == 200


def test_the_default_is_the_current_month_even_without_invoice(scene: PortalScene) -> None:
    with fix_today():
        invoiced = scene.request("GET", "/usage/focus")
    with fix_today(date(2026, 10, 1)):
        not_invoiced = scene.request("GET", "/usage/focus")

    assert invoiced.status_code == 200
    assert read_problem(not_invoiced, 404)["code"] == "no_invoices"


def test_a_restricted_user_is_refused(scene: PortalScene) -> None:
    response = scene.request("GET", f"/usage/focus?month={MONTH}", None, scene.clerk)

    assert read_problem(response, 403)["code"] == "narrowed_caller"
