"""GET /m/portal/usage/group and /usage/group/graph"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from nimbill.foundation.currency import Currency
from nimbill.foundation.money import to_exact
from nimbill.portal.groups.group_usage import NO_GROUP, add_up_groups
from nimbill.portal.usage_sums import Usage
from tests.invoicing.month_end import MONTH
from tests.portal.portal_scene import FIRST, SECOND, PortalScene

Groups = dict[str, str]  # name to group_id


@pytest.fixture(scope="module")
def groups(scene: PortalScene) -> Groups:
    """The second account is in both groups, the first in none until a test needs it."""
    ids = {}
    for name in ("web", "data"):
        body = {"name": name, "customer_ids": [SECOND]}
        ids[name] = scene.request("POST", "/groups", body).json()["group_id"]
    return ids


def add_up(rows: list[Any], **values: Any) -> Decimal:
    return sum((row["amount"] for row in rows if values.items() <= row.items()), start=Decimal(0))


def test_an_account_counts_in_each_of_its_groups_and_once_in_the_totals(
    scene: PortalScene, groups: Groups
) -> None:
    by_account = scene.customer.get("/usage/account", month=MONTH)

    body = scene.customer.get("/usage/group", month=MONTH)

    of_second = add_up(by_account["rows"], customer_id=SECOND)
    assert add_up(body["rows"], group_id=groups["web"]) == of_second
    assert add_up(body["rows"], group_id=groups["data"]) == of_second
    assert body["totals"] == by_account["totals"]
    assert body["months"] == by_account["months"]
    assert body["unpriced"] == []


def test_accounts_in_no_group_have_no_group(scene: PortalScene, groups: Groups) -> None:
    by_account = scene.customer.get("/usage/account", month=MONTH)

    rows = scene.customer.get("/usage/group", month=MONTH)["rows"]

    ungrouped = [row for row in rows if row["group_id"] is None]
    assert {row["group_name"] for row in ungrouped} == {None}
    assert {row["service"] for row in ungrouped} == {"AmazonEC2", "AmazonS3"}
    assert add_up(ungrouped) == add_up(by_account["rows"], customer_id=FIRST)
    assert {row["group_name"] for row in rows if row["group_id"]} == set(groups)


def test_a_restricted_user_sees_the_usage_of_its_accounts(
    scene: PortalScene, groups: Groups
) -> None:
    body = scene.customer.get("/usage/group", scene.clerk, month=MONTH)

    assert {row["group_id"] for row in body["rows"]} == set(groups.values())
    assert {row["service"] for row in body["rows"]} == {"AmazonRDS"}
    assert body["totals"][0]["amount"] == body["rows"][0]["amount"]


def test_the_graph_has_one_series_per_group(scene: PortalScene, groups: Groups) -> None:
    graph = scene.customer.get("/usage/group/graph", month=MONTH)

    names = {series["id"]: series["name"] for series in graph["series"]}
    assert names == {"": "", groups["web"]: "web", groups["data"]: "data"}
    rows = scene.customer.get("/usage/group", month=MONTH)["rows"]
    for series in graph["series"]:
        assert sum(series["amounts"]) == add_up(rows, group_id=series["id"] or None)


def test_rows_can_be_read_in_pages(scene: PortalScene, groups: Groups) -> None:
    everything = scene.customer.get("/usage/group", month=MONTH)

    page = scene.customer.get("/usage/group", month=MONTH, limit=2, offset=1)

    assert page["rows"] == everything["rows"][1:3]
    assert page["totals"] == everything["totals"]


def test_a_group_does_not_count_the_months_of_another_company() -> None:
    usage = Usage()
    usage.add(("cmp_1", SECOND, MONTH), Currency.jpy, to_exact(5))
    usage.add(("cmp_2", SECOND, "2026-10"), Currency.jpy, to_exact(7))

    by_group = add_up_groups(usage, {("cmp_1", SECOND): ["agr_1"]})

    assert by_group.amounts == {
        (("agr_1", MONTH), Currency.jpy): to_exact(5),
        ((NO_GROUP, "2026-10"), Currency.jpy): to_exact(7),
    }
