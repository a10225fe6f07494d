"""GET /m/portal/usage/account and /usage/account/graph"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from nimbill.foundation.product import Product
from tests.customers.resellers.reseller_accounts import change_meta, create_reseller
from tests.imports.aws_reports import report_line
from tests.invoicing.month_end import EXAMPLE_A, MONTH, PAYER
from tests.portal.portal_customer import (
    DISCOUNT,
    PortalCustomer,
    filter_accounts,
    invoice_example_a,
)
from tests.problem_responses import read_problem, read_violations

USAGE = "/usage/account"
GRAPH = "/usage/account/graph"
FIRST, SECOND = "111111111111", "222222222222"


def round_half_up(amount: Decimal) -> Decimal:
    return amount.quantize(Decimal(1), "ROUND_HALF_UP")


def get_amounts(body: dict[str, Any]) -> dict[tuple[str, str], Decimal]:
    return {(row["customer_id"], row["service"]): row["amount"] for row in body["rows"]}


def test_usage_of_an_invoiced_month_equals_the_usage_lines_of_its_invoice(
    customer: PortalCustomer,
) -> None:
    invoice = invoice_example_a(customer)
    usage_lines = invoice["sheet"]["lines"]

    body = customer.get(USAGE, month=MONTH)

    assert len(usage_lines) == 3
    assert {key: round_half_up(amount) for key, amount in get_amounts(body).items()} == {
        (line["customer_id"], line["service"]): line["after"] for line in usage_lines
    }
    assert body["months"] == [{"month": MONTH, "vendor": "aws", "provisional": False}]
    assert body["unpriced"] == []


def test_amounts_are_exact_and_totals_add_up(customer: PortalCustomer) -> None:
    invoice_example_a(customer)

    body = customer.get(USAGE, month=MONTH)

    expected = Decimal("1000.1234567890") * Decimal("0.95") * Decimal("150.25")
    assert get_amounts(body)[FIRST, "AmazonEC2"] == expected
    (total,) = body["totals"]
    assert total == {"currency": "jpy", "amount": sum(get_amounts(body).values())}


def test_a_row_names_its_account(customer: PortalCustomer) -> None:
    invoice_example_a(customer)

    rows = customer.get(USAGE, month=MONTH)["rows"]

    assert {row["customer_name"] for row in rows} == {f"account {FIRST}", f"account {SECOND}"}
    assert {row["vendor"] for row in rows} == {"aws"}
    assert {row["marketplace"] for row in rows} == {False}


def test_an_open_month_has_the_current_terms_and_the_last_saved_rate(
    customer: PortalCustomer,
) -> None:
    month_end = customer.month_end
    month_end.import_costs(*EXAMPLE_A)
    month_end.month = "2026-08"
    month_end.prepare_groups(customer.company_id, discount_rate=Decimal("0.5"))

    body = customer.get(USAGE, month=MONTH)

    expected = Decimal("20.333") * (1 - Decimal(DISCOUNT)) * Decimal("150.25")
    assert get_amounts(body)[SECOND, "AmazonRDS"] == expected
    assert body["months"] == [{"month": MONTH, "vendor": "aws", "provisional": True}]


def test_a_saved_setting_of_the_month_replaces_the_current_terms(
    customer: PortalCustomer,
) -> None:
    month_end = customer.month_end
    month_end.import_costs(*EXAMPLE_A)
    month_end.prepare_groups(customer.company_id, discount_rate=Decimal("0.5"))

    body = customer.get(USAGE, month=MONTH)

    expected = Decimal("20.333") * Decimal("0.5") * Decimal("150.25")
    assert get_amounts(body)[SECOND, "AmazonRDS"] == expected
    assert body["months"][0]["provisional"] is True


def test_an_invoiced_month_keeps_its_terms_when_the_setting_changes(
    customer: PortalCustomer,
) -> None:
    invoice_example_a(customer)
    before = customer.get(USAGE, month=MONTH)
    customer.month_end.save_settings(customer.company_id, discount_rate=Decimal("0.9"))
    customer.month_end.save_rate(customer.company_id, rate=Decimal(999))

    assert customer.get(USAGE, month=MONTH) == before


def test_usage_without_a_rate_is_not_shown_and_says_why(customer: PortalCustomer) -> None:
    customer.month_end.import_costs(*EXAMPLE_A)

    body = customer.get(USAGE, month=MONTH)

    assert body["rows"] == []
    assert body["unpriced"] == [{"month": MONTH, "vendor": "aws", "reason": "rate_missing"}]


def test_a_filter_on_accounts_restricts_rows_totals_and_graph(customer: PortalCustomer) -> None:
    invoice_example_a(customer)
    headers = customer.create_subuser("clerk", ["ReadAccount"], [filter_accounts(SECOND)])

    body = customer.get(USAGE, headers, month=MONTH)
    graph = customer.get(GRAPH, headers, month=MONTH)

    assert {row["customer_id"] for row in body["rows"]} == {SECOND}
    assert body["totals"][0]["amount"] == body["rows"][0]["amount"]
    assert [series["id"] for series in graph["series"]] == [SECOND]


def test_another_company_is_not_shown(customer: PortalCustomer) -> None:
    month_end = customer.month_end
    other = month_end.create_group("BG-2", "333333333333")
    month_end.import_costs(*EXAMPLE_A, report_line("7777.77", UsageAccountId="333333333333"))
    month_end.prepare_groups(customer.company_id, other)

    own = customer.get(USAGE, month=MONTH)
    stranger = create_reseller(customer.service, other, email="other@example.com")
    foreign = customer.get(USAGE, stranger.portal, month=MONTH)

    assert {row["customer_id"] for row in own["rows"]} == {FIRST, SECOND}
    assert {row["customer_id"] for row in foreign["rows"]} == {"333333333333"}
    refused = customer.service.http.get(
        f"/m/portal{USAGE}", params={"company_id": other}, headers=customer.reseller.portal
    )
    assert refused.status_code == 404


def test_a_user_of_the_organisation_chooses_a_company(customer: PortalCustomer) -> None:
    invoice_example_a(customer)
    root = customer.service.root(product=Product.portal)

    chosen = customer.get(USAGE, root, month=MONTH, company_id=customer.company_id)

    assert chosen == customer.get(USAGE, month=MONTH)
    assert customer.get(USAGE, root, month=MONTH) == chosen


def test_the_graph_has_one_point_per_day_of_a_month(customer: PortalCustomer) -> None:
    invoice_example_a(customer)

    graph = customer.get(GRAPH, month=MONTH)

    usage = customer.get(USAGE, month=MONTH)
    assert (graph["interval"], len(graph["points"])) == ("day", 30)
    assert [series["id"] for series in graph["series"]] == [FIRST, SECOND]
    assert sum(sum(series["amounts"]) for series in graph["series"]) == usage["totals"][0]["amount"]


def test_the_graph_of_several_months_has_one_point_per_month(customer: PortalCustomer) -> None:
    invoice_example_a(customer)

    graph = customer.get(GRAPH, **{"from": "2026-07", "to": MONTH})

    assert (graph["interval"], graph["points"]) == ("month", ["2026-07", "2026-08", MONTH])
    assert {tuple(series["amounts"][:2]) for series in graph["series"]} == {(0, 0)}


def test_an_account_that_left_shows_its_invoiced_months_to_the_former_customer_only(
    customer: PortalCustomer,
) -> None:
    invoice_example_a(customer)
    month_end = customer.month_end
    before = customer.get(USAGE, month=MONTH)
    other = month_end.create_group("BG-2", "333333333333")
    stranger = create_reseller(customer.service, other, email="other@example.com")
    body = {"company_id": other, "vendor": "aws", "name": "now theirs", "account_id": PAYER}
    moved = month_end.put(f"/accts/{SECOND}/edit", body)
    assert moved.status_code == 200, moved.text

    after = customer.get(USAGE, month=MONTH)
    foreign = customer.get(USAGE, stranger.portal, month=MONTH)

    assert get_amounts(after) == get_amounts(before)
    assert foreign["rows"] == []
    assert "now theirs" not in str(after)


@pytest.mark.parametrize(
    ("parameters", "field"),
    [
        ({"month": "2026-13"}, "month"),
        ({"month": MONTH, "from": MONTH}, "month"),
        ({"from": "2026-10", "to": MONTH}, "from"),
        ({"from": "2020-01", "to": MONTH}, "from"),
        ({"from": "0001-01", "to": "9999-12"}, "from"),
        ({"to": "x"}, "to"),
    ],
)
def test_a_wrong_period_is_refused_by_name(
    customer: PortalCustomer, parameters: dict[str, str], field: str
) -> None:
    response = customer.service.http.get(
        f"/m/portal{USAGE}", params=parameters, headers=customer.reseller.portal
    )

    assert [name for name, _ in read_violations(response)] == [field]


def test_a_flag_that_is_off_is_named(customer: PortalCustomer) -> None:
    change_meta(customer.service, customer.reseller.user_id, usage_account=False)

    response = customer.service.http.get(f"/m/portal{USAGE}", headers=customer.reseller.portal)

    problem = read_problem(response, 403)
    assert problem["code"] == "flag_off"
    assert "usage_account" in problem["detail"]
