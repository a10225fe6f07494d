"""POST /m/core/portal-views and what its token may do."""

from __future__ import annotations

import httpx
import pytest

from nimbill.access.role_actions import RoleAction
from nimbill.customers.resellers.meta_flags import FLAGS
from nimbill.foundation.product import Product
from tests.contract.declared_routes import Route, all_routes
from tests.customers.billing_groups.billing_groups import create_billing_group
from tests.customers.resellers.reseller_accounts import (
    CUSTOM_PASSWORD,
    EMAIL,
    Reseller,
    change_meta,
    create_reseller,
)
from tests.portal.staff_views.view_requests import (
    ME,
    begin,
    begin_view,
    end,
    view_headers,
)
from tests.problem_responses import read_problem
from tests.running_service import Service
from tests.subusers import create_subuser

ENDING = "end_portal_view"
OF_PORTAL = [route for route in all_routes() if Product.portal in route.products]
CHANGING = [route for route in OF_PORTAL if route.is_mutating and route.operation != ENDING]


# ── what is seen ─────────────────────────────────────────────────────────────────────────────────


def test_a_view_shows_the_portal_as_the_customer_sees_it(
    service: Service, company: str, reseller: Reseller
) -> None:
    view = begin_view(service, company)

    seen = service.http.get(ME, headers=view_headers(view)).json()
    own = service.http.get(ME, headers=reseller.portal).json()

    assert seen == own | {
        "view": {
            "view_id": view["view_id"],
            "viewer": "root",
            "expire_time": view["expire_time"],
        }
    }
    assert own["view"] is None
    assert (view["company_id"], view["user_id"], view["email"]) == (
        company,
        reseller.user_id,
        EMAIL,
    )


def test_the_flags_of_the_account_bind_the_view(
    service: Service, company: str, reseller: Reseller
) -> None:
    headers = view_headers(begin_view(service, company))
    on = service.http.get("/m/portal/invoices", headers=headers)
    change_meta(service, reseller.user_id, invoice=False)

    off = service.http.get("/m/portal/invoices", headers=headers)

    assert on.status_code == 200
    assert read_problem(off, 403)["code"] == "flag_off"


def test_the_oldest_account_is_shown_unless_another_one_is_named(
    service: Service, company: str, reseller: Reseller
) -> None:
    second = create_reseller(
        service, company, email="second@example.com", meta=dict.fromkeys(FLAGS, False)
    )

    unnamed = begin_view(service, company)
    named = begin_view(service, company, user_id=second.user_id)

    assert unnamed["user_id"] == reseller.user_id
    assert service.http.get(ME, headers=view_headers(named)).json()["username"] == second.email


def test_the_people_of_the_customer_are_shown(
    service: Service, company: str, reseller: Reseller
) -> None:
    body = {"username": "sub.user", "password": CUSTOM_PASSWORD, "notification": {"email": "false"}}
    service.http.post("/m/u/users", json=body, headers=reseller.portal)

    people = service.http.get("/m/u/users", headers=view_headers(begin_view(service, company)))

    assert [person["username"] for person in people.json()] == ["sub.user"]


@pytest.mark.parametrize("page", ["sessions", "second-factors"])
def test_where_and_how_a_customer_signs_in_is_not_shown(
    service: Service, company: str, reseller: Reseller, page: str
) -> None:
    view = begin_view(service, company)

    response = service.http.get(f"/m/u/users/{reseller.user_id}/{page}", headers=view_headers(view))

    assert read_problem(response, 403)["code"] == "personal_page"


# ── nothing changes ──────────────────────────────────────────────────────────────────────────────


def test_every_changing_route_of_the_portal_is_refused(
    service: Service, company: str, reseller: Reseller
) -> None:
    change_meta(service, reseller.user_id, **dict.fromkeys(FLAGS, True))
    headers = view_headers(begin_view(service, company))

    for route in CHANGING:
        response = send(service, route, reseller, headers)

        assert read_problem(response, 403)["code"] == "read_only_view", route
    assert len(CHANGING) > 20


def send(
    service: Service, route: Route, reseller: Reseller, headers: dict[str, str]
) -> httpx.Response:
    path = route.fill_path(user_id=reseller.user_id, user=reseller.user_id)
    return service.http.request(route.method, path, json={}, headers=headers)


def test_a_stored_response_of_the_customer_is_not_repeated_for_a_view(
    service: Service, company: str, reseller: Reseller
) -> None:
    key = {"Idempotency-Key": "one-and-the-same"}
    role = {"name": "reading", "namespace": "portal", "permissions": ["ReadTags"]}
    path = "/m/auth/rbac/roles"
    assert service.http.post(path, json=role, headers=reseller.portal | key).is_success

    repeated = service.http.post(
        path, json=role, headers=view_headers(begin_view(service, company)) | key
    )

    assert read_problem(repeated, 403)["code"] == "read_only_view"


def test_the_token_is_of_no_use_at_core_and_cannot_be_refreshed(
    service: Service, company: str, reseller: Reseller
) -> None:
    view = begin_view(service, company)

    response = service.http.get("/m/core/me", headers=view_headers(view))

    assert read_problem(response, 401)["code"] == "token_of_other_product"
    assert "refresh_token" not in view
    assert "set-cookie" not in begin(service, company).headers


# ── who may begin a view ─────────────────────────────────────────────────────────────────────────


def test_a_view_needs_the_permission_to_manage_reseller_accounts(
    service: Service, company: str, reseller: Reseller
) -> None:
    others = set(RoleAction) - {RoleAction.Admin, RoleAction.ModifyReseller}

    refused = begin(service, company, create_subuser(service, core=sorted(others)).core)
    allowed = begin(service, company, create_subuser(service, core=["ModifyReseller"]).core)

    assert read_problem(refused, 403)["code"] == "role_action_missing"
    assert allowed.status_code == 200


def test_a_restricted_member_of_staff_views_its_own_customers_only(
    service: Service, company: str, reseller: Reseller
) -> None:
    other = create_billing_group(service, service.root(), billinggroup_id="BG-2")
    create_reseller(service, other, email="other@example.com")
    clerk = create_subuser(
        service, core=["ModifyReseller"], filters=[("core", "billingGroup", company)]
    )

    assert begin(service, company, clerk.core).status_code == 200
    refused = read_problem(begin(service, other, clerk.core), 400)
    assert [each["field"] for each in refused["violations"]] == ["company_id"]


def test_a_company_of_another_organisation_does_not_exist(
    service: Service, company: str, reseller: Reseller
) -> None:
    other = service.new_organisation("Other", username="other-root")

    response = begin(service, company, service.root(organisation=other))

    assert [each["field"] for each in read_problem(response, 400)["violations"]] == ["company_id"]


def test_an_account_of_another_company_is_refused(
    service: Service, company: str, reseller: Reseller
) -> None:
    other = create_billing_group(service, service.root(), billinggroup_id="BG-2")
    foreign = create_reseller(service, other, email="other@example.com")

    response = begin(service, company, user_id=foreign.user_id)

    assert [each["field"] for each in read_problem(response, 400)["violations"]] == ["user_id"]


def test_a_customer_without_a_login_has_no_portal_to_see(service: Service, company: str) -> None:
    assert read_problem(begin(service, company), 409)["code"] == "no_portal_login"


# ── the audit log ────────────────────────────────────────────────────────────────────────────────


def test_the_audit_log_says_who_viewed_which_customer_and_when(
    service: Service, company: str, reseller: Reseller
) -> None:
    clerk = create_subuser(service, core=["ModifyReseller"], username="clerk.one")
    view = begin_view(service, company, clerk.core)
    end(service, view, view_headers(view))

    rows = service.http.get(
        "/m/core/audit", params={"object_type": "portal_view"}, headers=service.root()
    ).json()

    begun, ended = sorted(rows, key=lambda row: row["seq"])
    for row, action in ((begun, "begin_portal_view"), (ended, "end_portal_view")):
        assert row["action"] == action
        assert (row["actor"], row["actor_name"]) == (clerk.user_id, "clerk.one")
        assert row["resource"] == f"portal_view/{view['view_id']}"
    assert begun["company_id"] == company
    assert begun["at"] is not None
