"""The name, colour and logo of the portal: changing them, and what browsers load."""

from __future__ import annotations

import base64
from typing import Any

import httpx
import pytest

from nimbill.access.role_actions import RoleAction
from nimbill.demo.logo import draw_logo
from nimbill.foundation.ids import new_id
from tests.customers.resellers.reseller_accounts import company, create_reseller
from tests.problem_responses import read_problem, read_violations
from tests.quick_hashes import use_quick_hashes
from tests.running_service import Service
from tests.subusers import create_subuser

__all__ = ["company", "use_quick_hashes"]  # fixtures

LOGO = "/m/core/portal-logo"
BLUE = "#1a5fb4"
PICTURE = draw_logo(BLUE)
NOTHING = {"name": None, "colour": None, "logo": None, "style": None}


def put_logo(service: Service, content: bytes | str, headers: Any = None) -> httpx.Response:
    encoded = content if isinstance(content, str) else base64.b64encode(content).decode()
    return service.http.put(LOGO, json={"content": encoded}, headers=headers or service.root())


def put_settings(service: Service, **changes: Any) -> httpx.Response:
    return service.http.put("/m/core/settings", json=changes, headers=service.root())


def get_public(service: Service, organisation: str, file: str = "", **headers: str) -> Any:
    return service.http.get(f"/portal-branding/{organisation}{file}", headers=headers)


@pytest.fixture
def organisation_id(service: Service) -> str:
    return service.organisation.organisation_id


@pytest.fixture
def branded(service: Service, organisation_id: str) -> dict[str, Any]:
    """The branding as everybody sees it."""
    assert put_settings(service, portal_name="あおぞらクラウド", portal_colour=BLUE).is_success
    assert put_logo(service, PICTURE).is_success
    branding: dict[str, Any] = get_public(service, organisation_id).json()
    return branding


# ── what is shown ────────────────────────────────────────────────────────────────────────────────


def test_everybody_sees_name_colour_logo_and_style(
    service: Service, organisation_id: str, branded: dict[str, Any]
) -> None:
    logo, style = service.http.get(branded["logo"]), service.http.get(branded["style"])

    assert (branded["name"], branded["colour"]) == ("あおぞらクラウド", BLUE)
    assert (logo.content, logo.headers["content-type"]) == (PICTURE, "image/png")
    assert style.text == f":root {{ --portal-colour: {BLUE}; }}\n"
    assert style.headers["content-type"].startswith("text/css")
    for response in (logo, style):
        assert response.headers["x-content-type-options"] == "nosniff"
        assert response.headers["cache-control"] == "public, max-age=300"


def test_customers_and_staff_see_the_same(
    service: Service, company: str, branded: dict[str, Any]
) -> None:
    customer = create_reseller(service, company)

    me = service.http.get("/m/portal/me", headers=customer.portal).json()
    own = service.http.get("/m/core/portal-branding", headers=service.root()).json()

    assert me["branding"] == own == branded


def test_a_browser_that_has_the_file_is_told_so(service: Service, branded: dict[str, Any]) -> None:
    for address in (branded["logo"], branded["style"]):
        first = service.http.get(address)
        again = service.http.get(address, headers={"If-None-Match": first.headers["etag"]})
        other = service.http.get(address, headers={"If-None-Match": '"other"'})

        assert (again.status_code, again.content) == (304, b"")
        assert again.headers["etag"] == first.headers["etag"]
        assert other.content == first.content


def test_a_change_has_a_new_address(service: Service, branded: dict[str, Any]) -> None:
    green = draw_logo("#26714a")
    put_logo(service, green)
    put_settings(service, portal_colour="#26714a")

    changed = get_public(service, service.organisation.organisation_id).json()

    assert changed["logo"] != branded["logo"]
    assert changed["style"] != branded["style"]
    assert service.http.get(changed["logo"]).content == green


def test_an_unknown_organisation_is_like_one_without_branding(
    service: Service, organisation_id: str
) -> None:
    for name in (organisation_id, new_id("org"), "nobody", "a.b", "%E3%81%82", "x" * 200):
        body, style = get_public(service, name), get_public(service, name, "/style.css")

        assert (body.status_code, body.json()) == (200, NOTHING), name
        assert (style.status_code, style.content) == (200, b""), name
        assert read_problem(get_public(service, name, "/logo"), 404)["code"] == "not_found"


def test_an_organisation_is_found_by_its_short_name(service: Service) -> None:
    other = service.new_organisation("Branded Cloud 7", username="branded-root")
    body = {"portal_name": "Branded"}
    root = service.root(organisation=other)
    assert service.http.put("/m/core/settings", json=body, headers=root).is_success

    found = get_public(service, "Branded-Cloud-7").json()

    assert found["name"] == "Branded"


def test_each_organisation_has_its_own_branding(service: Service, branded: dict[str, Any]) -> None:
    other = service.new_organisation("Other", username="other-root")

    assert get_public(service, other.organisation_id).json() == NOTHING
    assert service.http.delete(LOGO, headers=service.root(organisation=other)).is_success
    assert service.http.get(branded["logo"]).content == PICTURE


# ── changes ──────────────────────────────────────────────────────────────────────────────────────


def test_the_logo_is_removed(service: Service, branded: dict[str, Any]) -> None:
    assert service.http.delete(LOGO, headers=service.root()).json() == {"status": "success"}

    assert service.http.get(branded["logo"]).status_code == 404
    assert get_public(service, service.organisation.organisation_id).json()["logo"] is None


def test_name_and_colour_are_cleared_with_an_empty_text(
    service: Service, branded: dict[str, Any]
) -> None:
    assert put_settings(service, portal_name="", portal_colour="").is_success

    shown = get_public(service, service.organisation.organisation_id).json()

    assert (shown["name"], shown["colour"], shown["style"]) == (None, None, None)


@pytest.mark.parametrize(
    ("content", "rule"),
    [
        (b"<svg/>", "a complete PNG or JPEG file; other formats are refused"),
        (PICTURE[:-1], "a complete PNG or JPEG file; other formats are refused"),
        (b"x" * 204_801, "at most 200 KiB"),
        ("not base64!", "a file in base64"),
        ("あ", "a file in base64"),
    ],
)
def test_other_files_are_refused(service: Service, content: bytes | str, rule: str) -> None:
    assert read_violations(put_logo(service, content)) == [("content", rule)]


def test_a_light_colour_and_a_long_name_are_refused(service: Service) -> None:
    light = read_violations(put_settings(service, portal_colour="#ffd700"))
    long = read_violations(put_settings(service, portal_name="x" * 61))

    rule = "a darker colour: the contrast to white text must be at least 4.5:1"
    assert light == [("portal_colour", rule)]
    assert long == [("portal_name", "length 0 to 60")]


def test_changing_needs_the_permission_and_sight_of_all_customers(
    service: Service, company: str
) -> None:
    reader = service.caller(RoleAction.ReadSettings)
    restricted = create_subuser(
        service, core=["ModifySettings"], filters=[("core", "billingGroup", company)]
    )

    assert read_problem(put_logo(service, PICTURE, reader), 403)["code"] == "role_action_missing"
    narrowed = put_logo(service, PICTURE, restricted.core)
    assert read_problem(narrowed, 403)["code"] == "narrowed_caller"
    assert put_logo(service, PICTURE, service.caller(RoleAction.ModifySettings)).is_success
