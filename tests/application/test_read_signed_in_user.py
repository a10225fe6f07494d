"""GET /m/core/me"""

from __future__ import annotations

from typing import Any

from nimbill.access.role_actions import PERMISSIONS_BY_PRODUCT, RoleAction
from nimbill.foundation.product import Product
from tests.identity.rbac.stored_groups import insert_groups
from tests.running_service import Service


def get_me(service: Service, headers: dict[str, str]) -> dict[str, Any]:
    response = service.http.get("/m/core/me", headers=headers)
    assert response.status_code == 200, response.text
    body: dict[str, Any] = response.json()
    return body


def test_the_root_user_has_every_action_and_sees_every_group(service: Service) -> None:
    organisation = service.organisation

    assert get_me(service, service.root()) == {
        "user_id": organisation.root_user_id,
        "username": "root",
        "kind": "root",
        "organisation_id": organisation.organisation_id,
        "organisation_name": "Test",
        "namespace": "core",
        "permissions": list(PERMISSIONS_BY_PRODUCT[Product.core]),
        "billing_groups": None,
        "language": "ja",
        "time_zone": "Asia/Tokyo",
        "vendors": ["aws", "azure"],
    }


def test_a_restricted_user_sees_its_own_actions_and_the_names_of_its_groups(
    service: Service,
) -> None:
    insert_groups(service, ["cmp_a", "cmp_b"])
    headers = service.caller(
        RoleAction.ReadInvoice, RoleAction.ReadAccount, billing_groups=["cmp_b"]
    )

    me = get_me(service, headers)

    assert me["kind"] == "subuser"
    assert me["permissions"] == ["ReadInvoice", "ReadAccount"]
    assert me["billing_groups"] == [
        {"company_id": "cmp_b", "billinggroup_id": "BG-cmp_b", "billinggroup_name": "group"}
    ]


def test_language_and_time_zone_are_those_of_the_organisation(service: Service) -> None:
    change = {"language": "en", "time_zone": "Europe/Paris"}
    service.http.put("/m/core/settings", json=change, headers=service.root())

    me = get_me(service, service.caller())

    assert (me["language"], me["time_zone"], me["permissions"]) == ("en", "Europe/Paris", [])
