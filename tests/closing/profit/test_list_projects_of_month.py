"""GET /m/core/project/{month}"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from nimbill.foundation import exact_json
from tests.customers.projects.projects import create_project
from tests.imports.aws_reports import report_line
from tests.invoicing.month_end import ACCOUNTS_OF_A, EXAMPLE_A, MONTH, MonthEnd
from tests.problem_responses import read_problem
from tests.subusers import create_subuser

NOTHING = {
    "stock": 0,
    "sales": 0,
    "profit": 0,
    "profit_rate": None,
    "stock_exchanged": 0,
    "sales_exchanged": 0,
    "profit_exchanged": 0,
    "profit_exchanged_rate": None,
}


def projects(month_end: MonthEnd, headers: Any = None) -> Any:
    """By code, with exact numbers."""
    response = month_end.get(f"/project/{MONTH}", headers)
    assert response.status_code == 200, response.text
    listed = exact_json.decode_stored(response.text)
    return {project.pop("project_code"): project for project in listed}


def prepare_group(month_end: MonthEnd, name: str, *accounts: str, **fields: Any) -> str:
    """Create a billing group with these accounts, ready to be invoiced."""
    group = month_end.create_group(name, *accounts, **fields)
    month_end.prepare_groups(group)
    return group


def test_a_project_without_invoices_has_zero_amounts_and_no_rate(month_end: MonthEnd) -> None:
    project_id = create_project(month_end.service, project_code="P-1", project_currency="usd")

    assert projects(month_end) == {
        "P-1": {
            "project_id": project_id,
            "project_label": "さくら移行",
            "project_currency": "usd",
            "amount": {"aws": NOTHING, "azure": NOTHING, "total": NOTHING},
        }
    }


def test_vendor_cost_sales_and_profit_of_worked_example_a(month_end: MonthEnd) -> None:
    project_id = create_project(month_end.service, project_code="P-1")
    group = prepare_group(month_end, "BG-A", *ACCOUNTS_OF_A, project_id=project_id)
    tax = report_line("107.07", LineItemType="Tax", UsageAccountId=ACCOUNTS_OF_A[0])
    month_end.import_costs(*EXAMPLE_A, tax)
    month_end.create_invoices(group)

    amount = projects(month_end)["P-1"]["amount"]

    assert (
        amount["aws"]
        == amount["total"]
        == {
            "stock": Decimal(
                "1070.71"
            ),  # 1000.123456789 + 50.25 + 20.333, without the vendor's tax
            "sales": Decimal("1152.45"),  # 173156 / 150.25 = 1152.4525…
            "profit": Decimal("81.74"),
            "profit_rate": Decimal("0.0709"),  # 81.74 / 1152.45 = 0.07092…
            "stock_exchanged": 160874,  # 1070.706456789 × 150.25 = 160873.645…
            "sales_exchanged": 173156,
            "profit_exchanged": 12282,
            "profit_exchanged_rate": Decimal("0.0709"),
        }
    )
    assert amount["azure"] == NOTHING


def test_groups_are_added_at_the_rate_of_each_invoice(month_end: MonthEnd) -> None:
    project_id = create_project(month_end.service, project_code="P-1")
    first, second = (
        prepare_group(month_end, name, account, project_id=project_id)
        for name, account in zip(("BG-1", "BG-2"), ACCOUNTS_OF_A, strict=True)
    )
    month_end.import_costs(
        report_line("10", UsageAccountId=ACCOUNTS_OF_A[0]),
        report_line("10", UsageAccountId=ACCOUNTS_OF_A[1]),
    )
    month_end.save_rate(first, rate=100)
    month_end.save_rate(second, rate=200)
    month_end.create_invoices()

    amount = projects(month_end)["P-1"]["amount"]["aws"]

    sold = [month_end.get_invoice(group)["sheet"]["pre_tax"] for group in (first, second)]
    assert amount["stock"] == 20
    assert amount["stock_exchanged"] == 3000
    assert amount["sales_exchanged"] == sum(sold)
    assert sold == [10764, 21527]
    assert amount["sales"] == Decimal("215.28")  # 10764 / 100 + 21527 / 200 = 215.275


def test_a_loss_is_a_negative_profit(month_end: MonthEnd) -> None:
    project_id = create_project(month_end.service, project_code="P-1", project_currency="usd")
    group = month_end.create_group("BG-A", *ACCOUNTS_OF_A, project_id=project_id)
    month_end.import_costs(*EXAMPLE_A)
    month_end.prepare_groups(
        group,
        currency="usd",
        discount_rate=Decimal("0.5"),
        support_fee="fix",
        substitution_fee="fix",
    )
    month_end.create_invoices(group)

    amount = projects(month_end)["P-1"]["amount"]["total"]

    assert amount["sales"] == Decimal("535.36")  # 500.06 + 25.13 + 10.17
    assert amount["profit"] == Decimal("-535.35")
    assert amount["profit_rate"] == Decimal("-1.0000")
    assert amount["sales_exchanged"] == amount["sales"]


def test_an_invoice_stays_with_its_project_until_it_is_created_again(month_end: MonthEnd) -> None:
    service = month_end.service
    then, now = (
        create_project(service, project_code="P-1"),
        create_project(service, project_code="P-2"),
    )
    group = prepare_group(month_end, "BG-A", *ACCOUNTS_OF_A, project_id=then)
    month_end.import_costs(*EXAMPLE_A)
    month_end.create_invoices(group)
    moved = {
        "billinggroup_id": "BG-A",
        "billinggroup_name": "name",
        "company_name": "company",
        "project_id": now,
    }
    assert month_end.post(f"/billinggroup/{group}", moved).status_code == 200

    assert projects(month_end)["P-1"]["amount"]["total"]["sales_exchanged"] == 173156
    assert projects(month_end)["P-2"]["amount"]["total"] == NOTHING

    month_end.create_invoices(group)
    assert projects(month_end)["P-1"]["amount"]["total"] == NOTHING
    assert projects(month_end)["P-2"]["amount"]["total"]["sales_exchanged"] == 173156


def test_restricted_users_see_only_amounts_of_their_groups(month_end: MonthEnd) -> None:
    project_id = create_project(month_end.service, project_code="P-1")
    hidden = prepare_group(month_end, "BG-A", *ACCOUNTS_OF_A, project_id=project_id)
    seen = prepare_group(month_end, "BG-B", "333333333333", project_id=project_id)
    month_end.import_costs(*EXAMPLE_A, report_line("10", UsageAccountId="333333333333"))
    month_end.create_invoices()
    person = create_subuser(
        month_end.service, core=["ReadProject"], filters=[("core", "billingGroup", seen)]
    )

    restricted = projects(month_end, person.core)["P-1"]["amount"]["total"]
    whole = projects(month_end)["P-1"]["amount"]["total"]

    sold = month_end.get_invoice(seen)["sheet"]["pre_tax"]
    assert restricted["sales_exchanged"] == sold
    assert whole["sales_exchanged"] == sold + month_end.get_invoice(hidden)["sheet"]["pre_tax"]


def test_an_invalid_month_is_refused(month_end: MonthEnd) -> None:
    read_problem(month_end.get("/project/2026-13"), 400)
    read_problem(month_end.get("/project/2026-13/csv"), 400)
