"""GET /m/portal/accounts"""

from __future__ import annotations

from tests.portal.portal_scene import FIRST, SECOND, PortalScene


def test_a_customer_sees_its_own_accounts_with_their_names(scene: PortalScene) -> None:
    listed = scene.request("GET", "/accounts").json()

    assert [account["customer_id"] for account in listed] == [FIRST, SECOND]
    assert {account["company_id"] for account in listed} == {scene.customer.company_id}
    assert [account["name"] for account in listed] == [f"account {FIRST}", f"account {SECOND}"]


def test_a_restricted_user_sees_visible_accounts_only(scene: PortalScene) -> None:
    listed = scene.request("GET", "/accounts", None, scene.clerk).json()

    assert [account["customer_id"] for account in listed] == [SECOND]
