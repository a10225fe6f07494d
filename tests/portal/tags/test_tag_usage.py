"""GET /m/portal/usage/tag, /usage/crosstag and their graphs"""

from __future__ import annotations

from collections import defaultdict
from decimal import Decimal
from typing import Any

import pytest

from nimbill.foundation.product import Product
from nimbill.portal.tags.tag_rules import RULE, RULE_FOR_CUSTOMERS, RULE_FOR_ORGANISATIONS
from tests.invoicing.month_end import MONTH
from tests.portal.portal_customer import PORTAL, PortalCustomer
from tests.portal.tags.tagged_customer import EARLIER, EARLIER_RATE, get_tag, sum_usage
from tests.problem_responses import read_violations

TAG, CROSS = "/usage/tag", "/usage/crosstag"
BOTH = {"from": EARLIER, "to": MONTH}
MISSING = [{"month": EARLIER, "vendor": "aws", "reason": "tag_sums_missing"}]


def get_totals(customer: PortalCustomer, **parameters: str) -> Any:
    return customer.get("/usage/account", **parameters)["totals"]


def test_usage_by_tag_has_a_row_for_each_value_and_service(customer: PortalCustomer) -> None:
    body = customer.get(TAG, key="Team", month=MONTH)

    assert {(row["tag_value"], row["service"]): row["amount"] for row in body["rows"]} == sum_usage(
        lambda line: (get_tag(line, "Team"), line["service"])
    )
    assert [row["tag_value"] for row in body["rows"]] == ["", "blue", "red", None]
    assert body["key"] == "Team"
    assert body["months"] == [{"month": MONTH, "vendor": "aws", "provisional": True}]


@pytest.mark.parametrize("key", ["Team", "Stage", "Owner", "Unknown"])
def test_totals_by_tag_are_those_by_account(customer: PortalCustomer, key: str) -> None:
    body = customer.get(TAG, key=key, **BOTH)

    assert body["totals"] == get_totals(customer, **BOTH)
    assert sum(row["amount"] for row in body["rows"]) == body["totals"][0]["amount"]
    assert body["unpriced"] == []


def test_usage_by_two_tags_has_a_row_for_each_pair(customer: PortalCustomer) -> None:
    body = customer.get(CROSS, keys="Team,Stage", month=MONTH)

    rows = {
        (row["tag_value"], row["tag_value_2"], row["service"]): row["amount"]
        for row in body["rows"]
    }
    assert rows == sum_usage(
        lambda line: (get_tag(line, "Team"), get_tag(line, "Stage"), line["service"])
    )
    assert body["keys"] == ["Team", "Stage"]
    assert body["totals"] == get_totals(customer, month=MONTH)


def test_a_page_of_rows_has_the_totals_of_all(customer: PortalCustomer) -> None:
    for path, keys in ((TAG, {"key": "Team"}), (CROSS, {"keys": "Stage,Team"})):
        complete = customer.get(path, month=MONTH, **keys)

        page = customer.get(path, month=MONTH, limit=2, offset=1, **keys)

        assert page == complete | {"rows": complete["rows"][1:3]}


def test_a_month_without_sums_by_two_tags_is_named_and_not_counted(
    customer: PortalCustomer,
) -> None:
    body = customer.get(CROSS, keys="Team,Stage", **BOTH)

    assert {row["month"] for row in body["rows"]} == {MONTH}
    assert body["totals"] == get_totals(customer, month=MONTH)
    assert body["unpriced"] == MISSING


def test_the_graph_of_a_tag_by_day_adds_up_by_value(customer: PortalCustomer) -> None:
    graph = customer.get(f"{TAG}/graph", key="Team", month=MONTH)

    amounts: dict[Any, Decimal] = defaultdict(Decimal)
    for series in graph["series"]:
        for point, amount in zip(graph["points"], series["amounts"], strict=True):
            amounts[*series["tag_values"], point] += amount
    expected = sum_usage(
        lambda line: (get_tag(line, "Team"), line["usage_start"].date().isoformat())
    )
    assert {key: amount for key, amount in amounts.items() if amount} == expected
    assert (graph["interval"], len(graph["points"])) == ("day", 30)


def test_the_graph_of_a_tag_by_month_needs_no_setting(customer: PortalCustomer) -> None:
    graph = customer.get(f"{TAG}/graph", key="Owner", **BOTH)

    by_value = {series["tag_values"][0]: series["amounts"] for series in graph["series"]}
    expected = sum_usage(lambda line: get_tag(line, "Owner"))
    assert by_value == {"me": [0, expected["me"]], None: [7 * EARLIER_RATE, expected[None]]}


def test_the_graph_of_two_tags_has_a_series_for_each_pair(customer: PortalCustomer) -> None:
    graph = customer.get(f"{CROSS}/graph", keys="Stage,Team", month=MONTH)

    by_pair = {tuple(series["tag_values"]): sum(series["amounts"]) for series in graph["series"]}
    assert by_pair == sum_usage(lambda line: (get_tag(line, "Stage"), get_tag(line, "Team")))
    totals = [sum(series["amounts"]) for series in graph["series"]]
    assert totals == sorted(totals, reverse=True)


@pytest.mark.parametrize(
    ("path", "parameters"),
    [
        (f"{TAG}/graph", {"key": "Owner", "month": MONTH}),
        (CROSS, {"keys": "Team,Owner"}),
        (f"{CROSS}/graph", {"keys": "Owner,Team"}),
    ],
)
def test_a_key_outside_the_setting_is_refused_with_what_to_do(
    customer: PortalCustomer, path: str, parameters: dict[str, str]
) -> None:
    def read_rules(headers: dict[str, str]) -> list[tuple[str, str]]:
        return read_violations(
            customer.service.http.get(PORTAL + path, params=parameters, headers=headers)
        )

    field = "key" if "key" in parameters else "keys"
    organisation = customer.service.root(product=Product.portal)
    assert read_rules(customer.reseller.portal) == [(field, RULE_FOR_CUSTOMERS)]
    assert read_rules(organisation) == [(field, RULE_FOR_ORGANISATIONS)]
    assert "ask your reseller" in RULE_FOR_CUSTOMERS


@pytest.mark.parametrize("keys", ["", "Team", "Team,", "Team,Team", "Team,Stage,Owner", "a\\,b"])
def test_other_than_two_keys_are_refused(customer: PortalCustomer, keys: str) -> None:
    for path in (CROSS, f"{CROSS}/graph"):
        response = customer.service.http.get(
            PORTAL + path, params={"keys": keys}, headers=customer.reseller.portal
        )

        assert read_violations(response) == [("keys", RULE)]


@pytest.mark.parametrize("key", ["", "x" * 1001])
def test_a_key_without_text_or_too_long_is_refused(customer: PortalCustomer, key: str) -> None:
    for path in (TAG, f"{TAG}/graph"):
        response = customer.service.http.get(
            PORTAL + path, params={"key": key}, headers=customer.reseller.portal
        )

        assert read_violations(response) == [("key", "length 1 to 1000")]
