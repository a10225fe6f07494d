"""Every route of the portal: its flag, its role action, and what it must never show.

Subusers and API clients are not below /m/portal, but have flags and role actions of the portal too.
The cases come from the declarations of the routes. A new route needs an entry in QUERIES if it has
a required parameter.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import httpx
import pytest

from nimbill.access.gate import FlagByParameter
from nimbill.access.role_actions import RoleAction
from nimbill.customers.resellers.meta_flags import FLAGS
from nimbill.foundation.product import Product
from tests.contract.declared_routes import Route, all_routes
from tests.contract.opened_responses import open_response
from tests.customers.resellers.reseller_accounts import Reseller, change_meta, create_reseller
from tests.invoicing.month_end import MONTH
from tests.portal.portal_scene import FIRST, FOREIGN, FOREIGN_NAME, SECOND, PortalScene
from tests.problem_responses import read_problem

PREFIX = "/m/portal"
USERS = "/m/u/users"
PATH_VALUES = {"month": MONTH, "vendor": "aws", "customer_id": SECOND}

# parameters that routes need beside the month, by path
QUERIES: Mapping[str, Mapping[str, str]] = {
    "/fees": {"kind": "fee"},
    "/usage/tag": {"key": "Team"},
    "/usage/tag/graph": {"key": "Team"},
    "/usage/crosstag": {"keys": "Team,Stage"},
    "/usage/crosstag/graph": {"keys": "Team,Stage"},
}
# routes that have a period in place of a month
PERIODS = {"/dashboard"}


@dataclass(frozen=True)
class PortalRequest:
    """A request to a route of the portal, and the flag that it depends on."""

    route: Route
    flag: str | None
    query: Mapping[str, str]

    def __str__(self) -> str:
        return f"{self.route}, {self.flag}"

    def send(self, scene: PortalScene, headers: dict[str, str]) -> httpx.Response:
        return scene.service.http.request(
            self.route.method,
            self.route.fill_path(**PATH_VALUES),
            params=dict(self.query),
            headers=headers,
        )


def list_requests() -> Iterator[PortalRequest]:
    for route in all_routes():
        if route.path.startswith((PREFIX, USERS)):
            flag, query = find_flag(route), build_query(route)
            if isinstance(flag, FlagByParameter):
                for value, name in flag.flags.items():
                    yield PortalRequest(route, name, query | {flag.parameter: value})
            else:
                yield PortalRequest(route, flag, query)


def find_flag(route: Route) -> Any:
    """The flag of the route; changing the password of others has one, changing one's own none."""
    options = route.handler.opt
    return options.get("flag", options.get("flag_for_other_users"))


def build_query(route: Route) -> dict[str, str]:
    path = route.path.removeprefix(PREFIX)
    period = {"from": MONTH, "to": MONTH} if path in PERIODS else {"month": MONTH}
    known = period if period.keys() <= set(route.query_names) else {}
    return {**known, **QUERIES.get(path, {})}


REQUESTS = list(list_requests())
FLAGGED = [request for request in REQUESTS if request.flag is not None]
PROTECTED = [request for request in REQUESTS if request.route.role_actions]
READS = [
    request
    for request in REQUESTS
    if request.route.method == "GET" and request.route.path.startswith(PREFIX)
]


def each(requests: list[PortalRequest]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("request_", requests, ids=str)


@pytest.fixture(scope="module")
def flagless(scene: PortalScene) -> Reseller:
    """An account of the customer whose flags are all off."""
    return create_reseller(
        scene.service,
        scene.customer.company_id,
        email="flagless@example.com",
        meta=dict.fromkeys(FLAGS, False),
    )


@each(FLAGGED)
def test_a_route_depends_on_its_flag_alone(
    scene: PortalScene, flagless: Reseller, request_: PortalRequest
) -> None:
    flag = str(request_.flag)
    assert flag in FLAGS
    off = request_.send(scene, flagless.portal)
    change_meta(scene.service, flagless.user_id, **{flag: True})
    on = request_.send(scene, flagless.portal)
    change_meta(scene.service, flagless.user_id, **{flag: False})

    problem = read_problem(off, 403)
    assert problem["code"] == "flag_off"
    assert problem["detail"].endswith(f" its flag {flag} is off.")
    assert on.status_code not in (401, 403), on.text
    assert on.status_code < 500, on.text


@each(PROTECTED)
def test_a_route_needs_one_of_its_role_actions(scene: PortalScene, request_: PortalRequest) -> None:
    needed = request_.route.role_actions
    others = set(RoleAction) - {*needed, RoleAction.Admin}

    refused = request_.send(scene, scene.service.caller(*others, product=Product.portal))

    assert read_problem(refused, 403)["code"] == "role_action_missing"
    for action in needed:
        allowed = request_.send(scene, scene.service.caller(action, product=Product.portal))
        assert allowed.status_code not in (401, 403), allowed.text
        assert allowed.status_code < 500, allowed.text


# ── what is never shown ──────────────────────────────────────────────────────────────────────────

RATE = Decimal("150.25")
COSTS = [Decimal("1000.1234567890"), Decimal("50.25"), Decimal("20.333"), Decimal("1050.373456789")]


def list_vendor_costs() -> list[str]:
    """What the vendor charged for usage, in its currency and in yen.

    The printed charge before the discount is rounded and may be shown.
    """
    amounts = [amount for cost in COSTS for amount in (cost, cost * RATE)]
    return [f"{amount:f}".rstrip("0") for amount in amounts]


FOREIGN_WORDS = [FOREIGN, FOREIGN_NAME, "KanariaService", "7777.77"]
HIDDEN_WORDS = [FIRST, "AmazonEC2", "AmazonS3", "a certificate", "a plan"]


def find_words(text: str, words: list[str]) -> list[str]:
    """A number does not count if it is a part of a longer one."""
    return [
        word for word in words if re.search(rf"(?<![0-9.]){re.escape(word)}(?![0-9]|\.[0-9])", text)
    ]


@each(READS)
def test_a_customer_never_sees_the_vendors_cost_nor_another_company(
    scene: PortalScene, request_: PortalRequest
) -> None:
    response = request_.send(scene, scene.customer.reseller.portal)

    assert response.status_code == 200, response.text
    text = open_response(scene.service, response)
    assert find_words(text, [*list_vendor_costs(), *FOREIGN_WORDS, scene.other_company]) == []


@each(READS)
def test_a_restricted_user_never_sees_a_hidden_account(
    scene: PortalScene, request_: PortalRequest
) -> None:
    response = request_.send(scene, scene.clerk)

    text = open_response(scene.service, response)
    words = [*list_vendor_costs(), *FOREIGN_WORDS, *HIDDEN_WORDS, scene.other_company]
    assert response.status_code in (200, 403), response.text
    assert find_words(text, words) == []


def test_the_words_are_found_where_they_are_shown(scene: PortalScene) -> None:
    """Without this, the tests above would pass if they looked for the wrong words."""
    month_end = scene.customer.month_end
    core: Any = month_end.get(f"/invoices/{MONTH}/{scene.customer.company_id}/aws").text
    foreign: Any = month_end.get(f"/invoices/{MONTH}/{scene.other_company}/aws").text
    usage = scene.request("GET", f"/usage/account?month={MONTH}").text

    costs = list_vendor_costs()
    assert {*costs[:6:2]} <= set(find_words(core, costs))
    assert find_words(foreign, [*FOREIGN_WORDS, scene.other_company]) == [
        *FOREIGN_WORDS,
        scene.other_company,
    ]
    assert find_words(usage, HIDDEN_WORDS) == HIDDEN_WORDS[:3]


def test_the_portal_has_routes() -> None:
    assert len(FLAGGED) >= 30
    assert len(READS) > 15
    assert {request.route.path for request in REQUESTS if request.flag is None} == {
        f"{PREFIX}/me",
        f"{PREFIX}/accounts",
        f"{PREFIX}/views/{{view_id}}",
    }
