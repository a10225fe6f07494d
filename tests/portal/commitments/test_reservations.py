"""GET /m/portal/ri and /ri/utilization"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from nimbill.foundation.product import Product
from tests.customers.resellers.reseller_accounts import change_meta
from tests.invoicing.month_end import MONTH
from tests.portal.commitments.commitment_lines import ARN, FOREIGN, OWN, SECOND
from tests.portal.commitments.conftest import (
    ARN_IN_FULL,
    ARN_IN_PART,
    ARN_LATER,
    CommittedCustomer,
)
from tests.portal.portal_customer import filter_accounts
from tests.problem_responses import read_problem, read_violations

PRICE = Decimal("0.5") * Decimal("150.25")
PATHS = ("/ri", "/ri/utilization", "/ri/recommendation", "/sp")


def find_row(body: dict[str, Any], arn: str | None) -> dict[str, Any]:
    (row,) = [row for row in body["rows"] if row["reservation_id"] == arn]
    return dict(row)


def test_a_reservation_is_shown_with_its_terms_and_the_fee_at_the_customers_price(
    committed: CommittedCustomer,
) -> None:
    body = committed.customer.get("/ri", month=MONTH)

    row = find_row(body, ARN)
    assert row.pop("id").startswith("ri")
    assert row == {
        "reservation_id": ARN,
        "vendor": "aws",
        "customer_id": OWN,
        "customer_name": f"account {OWN}",
        "service": "AmazonEC2",
        "instance_type": "m5.large",
        "platform": "Linux",
        "tenancy": "",
        "region": "ap-northeast-1",
        "zone": "",
        "scope": "Region",
        "number": 4,
        "payment_option": "No Upfront",
        "offer_class": "standard",
        "term_length": "1yr",
        "start": "2026-09-11T00:00:00Z",
        "end": "2027-09-11T00:00:00Z",
        "state": "active",
        "moved": False,
        "currency": "jpy",
        "fee": 100 * PRICE,
    }
    assert body["months"] == [{"month": MONTH, "vendor": "aws", "provisional": True}]
    assert body["unpriced"] == []


def test_instances_that_were_moved_away_are_not_shown(committed: CommittedCustomer) -> None:
    body = committed.customer.get("/ri", month=MONTH)

    in_part = find_row(body, ARN_IN_PART)
    assert (in_part["number"], in_part["fee"]) == (2, Decimal("6.6666666667") * PRICE)
    assert ARN_IN_FULL not in {row["reservation_id"] for row in body["rows"]}


def test_instances_that_were_moved_to_a_customer_are_its_own(committed: CommittedCustomer) -> None:
    body = committed.customer.get("/ri", committed.other.portal, month=MONTH)

    rows = sorted(body["rows"], key=lambda row: row["number"])
    assert [(row["number"], row["fee"], row["moved"]) for row in rows] == [
        (1, Decimal("3.3333333333") * Decimal("150.25"), True),
        (2, 20 * Decimal("150.25"), True),
    ]
    assert {row["customer_id"] for row in rows} == {FOREIGN}


def test_moved_instances_do_not_name_their_former_owner(committed: CommittedCustomer) -> None:
    customer = committed.customer
    for path in ("/ri", "/ri/utilization"):
        body = customer.get(path, committed.other.portal, month=MONTH)

        assert len(body["rows"]) == 2
        assert OWN not in str(body)


def test_a_reservation_that_begins_after_the_month_is_not_shown(
    committed: CommittedCustomer,
) -> None:
    in_september = committed.customer.get("/ri", month=MONTH)
    in_october = committed.customer.get("/ri", month="2026-10")

    assert ARN_LATER not in {row["reservation_id"] for row in in_september["rows"]}
    later = find_row(in_october, ARN_LATER)
    assert (later["number"], later["fee"], later["currency"]) == (1, None, None)


def test_the_vendors_cost_is_in_no_answer(committed: CommittedCustomer) -> None:
    for path in PATHS:
        response = committed.customer.service.http.get(
            f"/m/portal{path}",
            params={"month": MONTH},
            headers=committed.customer.reseller.portal,
        )

        assert response.status_code == 200
        for cost in (":100,", ":100}", ":200,", ":200}", ":60,", ":90,", "6.6666666667"):
            assert cost not in response.text.replace(" ", "")


def test_use_is_the_share_of_the_bought_hours_in_instances_of_the_reserved_size(
    committed: CommittedCustomer,
) -> None:
    body = committed.customer.get("/ri/utilization", month=MONTH)

    row = find_row(body, ARN)
    # 700 hours of an m5.large and 100 hours of an m5.xlarge, which counts twice
    assert (row["hours_bought"], row["hours_used"]) == (4 * 20 * 24, 900)
    assert row["percentage"] == Decimal("46.88")
    assert row["number"] == 4


def test_use_is_divided_like_the_instances(committed: CommittedCustomer) -> None:
    customer = committed.customer
    own = find_row(customer.get("/ri/utilization", month=MONTH), ARN_IN_PART)
    other = customer.get("/ri/utilization", committed.other.portal, month=MONTH)

    moved = {row["number"]: row for row in other["rows"]}
    assert (own["hours_bought"], own["hours_used"]) == (2 * 480, 32)
    assert (moved[1]["hours_bought"], moved[1]["hours_used"]) == (480, 16)
    assert own["percentage"] == moved[1]["percentage"] == Decimal("3.33")


def test_a_reservation_that_nobody_used_has_a_use_of_zero(committed: CommittedCustomer) -> None:
    body = committed.customer.get("/ri/utilization", committed.other.portal, month=MONTH)

    (row,) = [row for row in body["rows"] if row["number"] == 2]
    assert (row["hours_used"], row["percentage"]) == (0, 0)


def test_a_filter_on_accounts_restricts_every_report(committed: CommittedCustomer) -> None:
    customer = committed.customer
    headers = customer.create_subuser("clerk", ["ReadRi"], [filter_accounts(SECOND)])

    bodies = {path: customer.get(path, headers, month=MONTH) for path in PATHS}

    assert [len(bodies[path]["rows"]) for path in PATHS] == [0, 0, 1, 0]
    assert bodies["/ri/recommendation"]["rows"][0]["customer_id"] == SECOND


def test_a_filter_on_tags_is_refused(committed: CommittedCustomer) -> None:
    customer = committed.customer
    tags = {"namespace": "portal", "type": "tags", "resource": ["Team=web"]}
    headers = customer.create_subuser("tagged", ["ReadRi"], [tags])

    for path in PATHS:
        response = customer.service.http.get(f"/m/portal{path}", headers=headers)

        assert read_problem(response, 403)["code"] == "narrowed_caller"


def test_a_user_of_the_organisation_sees_all_companies_or_one(
    committed: CommittedCustomer,
) -> None:
    customer = committed.customer
    root = customer.service.root(product=Product.portal)

    every = customer.get("/ri", root, month=MONTH)
    one = customer.get("/ri", root, month=MONTH, company_id=customer.company_id)

    assert {row["customer_id"] for row in every["rows"]} == {OWN, FOREIGN}
    assert one == customer.get("/ri", month=MONTH)


def test_a_page_of_the_rows_can_be_requested(committed: CommittedCustomer) -> None:
    every = committed.customer.get("/ri", month=MONTH)["rows"]

    page = committed.customer.get("/ri", month=MONTH, limit=1, offset=1)["rows"]

    assert page == every[1:2]


def test_months_without_costs_and_far_months_are_empty(committed: CommittedCustomer) -> None:
    for month in ("0001-01", "9999-12"):
        for path in PATHS[1:]:
            assert committed.customer.get(path, month=month)["rows"] == []
        committed.customer.get("/ri", month=month)


def test_a_wrong_month_is_refused_by_name(committed: CommittedCustomer) -> None:
    for path in PATHS:
        response = committed.customer.service.http.get(
            f"/m/portal{path}",
            params={"month": "2026-13"},
            headers=committed.customer.reseller.portal,
        )

        assert [name for name, _ in read_violations(response)] == ["month"]


def test_each_report_has_its_own_flag(committed: CommittedCustomer) -> None:
    flags = ("ri_purchased", "ri_utilization", "ri_recommendation", "sp_purchased")
    reseller = committed.customer.reseller
    for path, flag in zip(PATHS, flags, strict=True):
        change_meta(committed.customer.service, reseller.user_id, **{flag: False})

        response = committed.customer.service.http.get(f"/m/portal{path}", headers=reseller.portal)

        problem = read_problem(response, 403)
        assert (problem["code"], flag in problem["detail"]) == ("flag_off", True)
        change_meta(committed.customer.service, reseller.user_id, **{flag: True})
