"""GET, POST, PUT and DELETE /m/portal/groups"""

from __future__ import annotations

from typing import Any

import pytest

from tests.portal.portal_scene import EVERYTHING, FIRST, FOREIGN, SECOND, PortalScene
from tests.problem_responses import read_problem, read_violations


@pytest.fixture
def group(scene: PortalScene) -> Any:
    """A group of both accounts, which is deleted after the test."""
    body = {"name": "web", "customer_ids": [SECOND, FIRST, FIRST]}
    created = scene.request("POST", "/groups", body)
    assert created.status_code == 200, created.text
    yield created.json()
    scene.request("DELETE", f"/groups/{created.json()['group_id']}")


def list_groups(scene: PortalScene, headers: Any = None, **parameters: Any) -> Any:
    return scene.customer.get("/groups", headers, **parameters)


def test_a_group_has_a_name_and_accounts(scene: PortalScene, group: Any) -> None:
    assert group == {
        "group_id": group["group_id"],
        "company_id": scene.customer.company_id,
        "name": "web",
        "customer_ids": [FIRST, SECOND],
    }
    assert list_groups(scene) == [group]


def test_a_group_is_renamed_and_its_accounts_are_replaced(scene: PortalScene, group: Any) -> None:
    path = f"/groups/{group['group_id']}"

    renamed = scene.request("PUT", path, {"name": "shop"}).json()
    replaced = scene.request("PUT", path, {"customer_ids": [SECOND]}).json()

    assert renamed == group | {"name": "shop"}
    assert replaced == group | {"name": "shop", "customer_ids": [SECOND]}
    assert list_groups(scene) == [replaced]


def test_a_name_is_unique_in_the_company(scene: PortalScene, group: Any) -> None:
    other = scene.request("POST", "/groups", {"name": "batch", "customer_ids": []}).json()
    path = f"/groups/{other['group_id']}"

    created = scene.request("POST", "/groups", {"name": "web", "customer_ids": []})
    renamed = scene.request("PUT", path, {"name": "web"})
    elsewhere = scene.request(
        "POST", "/groups", {"name": "web", "customer_ids": [FOREIGN]}, scene.stranger.portal
    )

    assert read_problem(created, 409)["code"] == "account_group_name_taken"
    assert read_problem(renamed, 409)["code"] == "account_group_name_taken"
    assert elsewhere.status_code == 200
    assert scene.request("DELETE", path).status_code == 200
    scene.request("DELETE", f"/groups/{elsewhere.json()['group_id']}", None, scene.stranger.portal)


@pytest.mark.parametrize("customer_id", [FOREIGN, "999999999999"])
def test_members_are_accounts_of_the_company(
    scene: PortalScene, group: Any, customer_id: str
) -> None:
    body = {"name": "wrong", "customer_ids": [FIRST, customer_id]}

    created = scene.request("POST", "/groups", body)
    changed = scene.request("PUT", f"/groups/{group['group_id']}", body)

    assert read_violations(created) == [("customer_ids", "accounts of the company")]
    assert read_violations(changed) == [("customer_ids", "accounts of the company")]
    assert list_groups(scene) == [group]


def test_a_group_of_another_company_does_not_exist(scene: PortalScene, group: Any) -> None:
    path, stranger = f"/groups/{group['group_id']}", scene.stranger.portal

    assert list_groups(scene, stranger) == []
    assert scene.request("PUT", path, {"name": "mine"}, stranger).status_code == 404
    assert scene.request("DELETE", path, None, stranger).status_code == 404
    assert list_groups(scene) == [group]


def test_a_restricted_user_sees_its_part_and_changes_nothing(
    scene: PortalScene, group: Any
) -> None:
    hidden = scene.request("POST", "/groups", {"name": "api", "customer_ids": [FIRST]}).json()
    path = f"/groups/{group['group_id']}"

    shown = list_groups(scene, scene.clerk)
    refused = [
        scene.request("PUT", path, {"name": "mine"}, scene.clerk),
        scene.request("DELETE", path, None, scene.clerk),
        scene.request("POST", "/groups", {"name": "new", "customer_ids": [SECOND]}, scene.clerk),
    ]

    assert shown == [group | {"customer_ids": [SECOND]}]
    assert {read_problem(each, 403)["code"] for each in refused} == {"narrowed_caller"}
    assert list_groups(scene) == [hidden, group]
    scene.request("DELETE", f"/groups/{hidden['group_id']}")


def test_a_filter_on_groups_admits_their_accounts(scene: PortalScene) -> None:
    only = scene.request("POST", "/groups", {"name": "only", "customer_ids": [SECOND]}).json()
    by_group = {"namespace": "portal", "type": "group", "resource": [only["group_id"]]}
    headers = scene.customer.create_subuser("member", EVERYTHING, [by_group])

    before = scene.customer.get("/usage/account", headers, month="2026-09")["rows"]
    scene.request("DELETE", f"/groups/{only['group_id']}")
    after = scene.customer.get("/usage/account", headers, month="2026-09")["rows"]

    assert {row["customer_id"] for row in before} == {SECOND}
    assert after == []


def test_a_user_of_the_organisation_names_the_company(scene: PortalScene) -> None:
    body, root = {"name": "ours", "customer_ids": [FOREIGN]}, scene.root()

    unnamed = scene.request("POST", "/groups", body, root)
    unknown = scene.request("POST", "/groups", body | {"company_id": "cmp_unknown"}, root)
    named = scene.request("POST", "/groups", body | {"company_id": scene.other_company}, root)

    assert [field for field, _ in read_violations(unnamed)] == ["company_id"]
    assert [field for field, _ in read_violations(unknown)] == ["company_id"]
    assert list_groups(scene, root, company_id=scene.other_company) == [named.json()]
    assert list_groups(scene, root, company_id=scene.customer.company_id) == []
    deleted = scene.request("DELETE", f"/groups/{named.json()['group_id']}", None, root)
    assert deleted.json() == {"status": "success", "company_id": scene.other_company}


def test_too_many_accounts_are_refused(scene: PortalScene) -> None:
    body = {"name": "all", "customer_ids": [FIRST] * 5_001}

    refused = scene.request("POST", "/groups", body)

    assert read_violations(refused) == [("customer_ids", "at most 5,000 accounts")]
