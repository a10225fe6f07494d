"""Filters on tags restrict what a subuser of a customer sees."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from tests.costs.generated_months import Line
from tests.invoicing.month_end import MONTH
from tests.portal.portal_customer import PORTAL, PortalCustomer, filter_accounts
from tests.portal.tags.tagged_customer import (
    EARLIER,
    LINES,
    SECOND,
    get_tag,
    sum_usage,
)
from tests.problem_responses import read_violations

PERMISSIONS = ["ReadAccount", "ReadTags"]


def filter_tags(*tags: str) -> dict[str, Any]:
    return {"namespace": "portal", "type": "tags", "resource": list(tags)}


def is_red(line: Line) -> bool:
    return get_tag(line, "Team") == "red"


def sum_total(lines: list[Line]) -> Decimal:
    return sum_usage(lambda _: "all", lines)["all"]


@pytest.mark.parametrize(
    ("username", "tags", "admits"),
    [
        ("red-team", ["Team=red"], is_red),
        ("no-value", ["Team="], lambda line: get_tag(line, "Team") == ""),
        (
            "either",
            ["Team=red", "Team=blue"],
            lambda line: get_tag(line, "Team") in ("red", "blue"),
        ),
        (
            "both-keys",
            ["Team=red", "Stage=prod"],
            lambda line: is_red(line) and get_tag(line, "Stage") == "prod",
        ),
    ],
)
def test_a_filter_on_tags_restricts_every_report(
    customer: PortalCustomer, username: str, tags: list[str], admits: Any
) -> None:
    headers = customer.create_subuser(username, PERMISSIONS, [filter_tags(*tags)])

    accounts = customer.get("/usage/account", headers, month=MONTH)
    by_tag = customer.get("/usage/tag", headers, key="Team", month=MONTH)
    by_tags = customer.get("/usage/crosstag", headers, keys="Team,Stage", month=MONTH)
    graphs = [
        customer.get("/usage/account/graph", headers, month=MONTH),
        customer.get("/usage/tag/graph", headers, key="Stage", month=MONTH),
        customer.get("/usage/crosstag/graph", headers, keys="Team,Stage", month=MONTH),
    ]

    lines = [line for line in LINES if admits(line)]
    assert {
        (row["customer_id"], row["service"]): row["amount"] for row in accounts["rows"]
    } == sum_usage(lambda line: (line["customer_id"], line["service"]), lines)
    assert {(row["tag_value"], row["service"]): row["amount"] for row in by_tag["rows"]} == (
        sum_usage(lambda line: (get_tag(line, "Team"), line["service"]), lines)
    )
    assert accounts["totals"] == by_tag["totals"] == by_tags["totals"]
    for graph in graphs:
        total = sum(sum(series["amounts"]) for series in graph["series"])
        assert total == sum_total(lines)


def test_filters_on_accounts_and_tags_restrict_together(customer: PortalCustomer) -> None:
    filters = [filter_accounts(SECOND), filter_tags("Team=red")]
    headers = customer.create_subuser("clerk", PERMISSIONS, filters)

    body = customer.get("/usage/account", headers, month=MONTH)

    lines = [line for line in LINES if is_red(line) and line["customer_id"] == SECOND]
    assert [row["customer_id"] for row in body["rows"]] == [SECOND]
    assert body["totals"][0]["amount"] == sum_total(lines)


def test_a_month_without_sums_by_the_key_shows_nothing_and_says_so(
    customer: PortalCustomer,
) -> None:
    outside = customer.create_subuser("owner", PERMISSIONS, [filter_tags("Owner=me")])
    inside = customer.create_subuser("stages", PERMISSIONS, [filter_tags("Stage=prod")])

    of_unknown_key = customer.get("/usage/account", outside, month=MONTH)
    of_earlier_month = customer.get("/usage/tag", inside, key="Team", month=EARLIER)

    for body, month in ((of_unknown_key, MONTH), (of_earlier_month, EARLIER)):
        assert (body["rows"], body["totals"]) == ([], [])
        missing = {"month": month, "vendor": "aws", "reason": "tag_sums_missing"}
        assert body["unpriced"] == [missing]


def test_a_filtered_user_needs_the_key_of_a_report_in_the_setting(customer: PortalCustomer) -> None:
    headers = customer.create_subuser("reader", PERMISSIONS, [filter_tags("Team=red")])

    response = customer.service.http.get(
        f"{PORTAL}/usage/tag", params={"key": "Owner", "month": MONTH}, headers=headers
    )

    assert [field for field, _ in read_violations(response)] == ["key"]
