"""POST /core/session/refresh and DELETE /core/session, and the same of the portal"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from nimbill.foundation.product import Product
from tests.identity.login.console_sessions import (
    parse_cookies,
    refresh_session,
    sign_in,
    sign_in_for_token,
)
from tests.identity.login.token_requests import (
    PRODUCTS,
    bearer_headers,
    client_form,
    create_user,
    is_token_valid,
    issue_tokens,
    password_form,
    refresh_form,
)
from tests.problem_responses import read_problem
from tests.running_service import Service
from tests.subusers import run_concurrently

each_product = pytest.mark.parametrize("product", PRODUCTS)


# ── refresh ──────────────────────────────────────────────────────────────────────────────────────


@each_product
def test_the_cookie_is_exchanged_for_a_new_token_and_a_new_cookie(
    service: Service, product: Product
) -> None:
    first = sign_in(service, product)

    second = refresh_session(service, product)

    assert second.status_code == 200
    assert set(second.json()) == set(first.json())
    name = f"nimbill_{product}_session"
    before, after = parse_cookies(first)[name].value, parse_cookies(second)[name].value
    assert before != after
    for token in (first.json()["access_token"], second.json()["access_token"]):
        assert is_token_valid(service, token)
    assert refresh_session(service, product).status_code == 200


def test_concurrent_refreshes_of_several_tabs_succeed(service: Service) -> None:
    sign_in_for_token(service)
    cookie = {"Cookie": f"nimbill_core_session={service.http.cookies['nimbill_core_session']}"}
    service.http.cookies.clear()

    responses = run_concurrently([lambda: refresh_session(service, headers=cookie)] * 8)

    assert {response.status_code for response in responses} == {200}
    values = {parse_cookies(response)["nimbill_core_session"].value for response in responses}
    assert len(values) == 1


def test_late_reuse_of_a_cookie_ends_the_session(service: Service) -> None:
    token = sign_in_for_token(service)
    stolen = service.http.cookies["nimbill_core_session"]
    refreshed_token = refresh_session(service).json()["access_token"]

    with time_machine.travel(datetime.now(UTC) + timedelta(seconds=11), tick=False):
        service.http.cookies.clear()
        late = refresh_session(service, headers={"Cookie": f"nimbill_core_session={stolen}"})

        assert read_problem(late, 401)["code"] == "session_ended"
        assert not is_token_valid(service, token)
        assert not is_token_valid(service, refreshed_token)


def test_an_invalid_cookie_is_refused(service: Service) -> None:
    for cookie in (
        "",
        "nonsense",
        ".",
        "org_x.nb_rt_x",
        ".nb_rt_x",
        "org_x.",
        "nobody.nb_rt_x",
        "org\\000x.nb_rt_x",
        "a" * 5000 + ".b",
        "org_x.nb_rt_x.more",
    ):
        headers = {"Cookie": f'nimbill_core_session="{cookie}"'}
        response = refresh_session(service, headers=headers)

        assert read_problem(response, 401)["code"] == "session_ended", cookie[:40]


def test_the_cookie_of_one_product_is_refused_by_the_other(service: Service) -> None:
    sign_in_for_token(service)
    cookie = service.http.cookies["nimbill_core_session"]
    service.http.cookies.clear()

    response = refresh_session(
        service, Product.portal, headers={"Cookie": f"nimbill_portal_session={cookie}"}
    )

    assert read_problem(response, 401)["code"] == "session_ended"


def test_refresh_tokens_of_clients_and_cookies_are_not_interchangeable(
    service: Service,
) -> None:
    organisation = service.organisation
    token = issue_tokens(service, password_form(organisation, "root"))["refresh_token"]
    response = refresh_session(
        service, headers={"Cookie": f"nimbill_core_session={organisation.organisation_id}.{token}"}
    )
    assert read_problem(response, 401)["code"] == "session_ended"

    sign_in_for_token(service)
    cookie = service.http.cookies["nimbill_core_session"].split(".")[1]
    form_response = service.http.post("/core/access_token", data=refresh_form(organisation, cookie))
    assert form_response.json()["error"] == "invalid_grant"


# ── end of a session ─────────────────────────────────────────────────────────────────────────────


@each_product
def test_signing_out_ends_every_session_of_the_user_but_no_client_tokens(
    service: Service, product: Product
) -> None:
    client_token = issue_tokens(service, client_form(service.organisation), product)
    user_token = issue_tokens(service, password_form(service.organisation, "root"), product)
    other_token = sign_in_for_token(service, product)
    other_cookie = service.http.cookies[f"nimbill_{product}_session"]
    own_token = sign_in_for_token(service, product)

    response = service.http.delete(f"/{product}/session", headers=bearer_headers(own_token))

    assert response.status_code == 200
    assert response.json() == {"status": "success"}
    assert not is_token_valid(service, own_token)
    assert not is_token_valid(service, other_token)
    cleared = parse_cookies(response)[f"nimbill_{product}_session"]
    assert (cleared.value, cleared["path"]) == ("", f"/{product}/session")
    late = refresh_session(
        service, product, headers={"Cookie": f"nimbill_{product}_session={other_cookie}"}
    )
    assert read_problem(late, 401)["code"] == "session_ended"
    for tokens in (client_token, user_token):
        assert is_token_valid(service, tokens["access_token"])
        form = refresh_form(service.organisation, tokens["refresh_token"])
        assert issue_tokens(service, form, product)


def test_sessions_of_other_users_stay_valid(service: Service) -> None:
    user = create_user(service)
    other = sign_in_for_token(service, username=user.username)
    own = sign_in_for_token(service)

    assert service.http.delete("/core/session", headers=bearer_headers(own)).status_code == 200

    assert is_token_valid(service, other)


def test_signing_out_needs_a_token_of_the_same_product(service: Service) -> None:
    assert service.http.delete("/core/session").status_code == 401
    token = sign_in_for_token(service, Product.portal)

    assert service.http.delete("/core/session", headers=bearer_headers(token)).status_code == 401
    assert is_token_valid(service, token)


def test_a_password_change_ends_every_session(service: Service) -> None:
    user = create_user(service)
    token = sign_in_for_token(service, username=user.username)
    path = f"/m/u/users/{user.user_id}/password"
    changed = service.http.put(path, json={"password": "another 77"}, headers=service.root())
    assert changed.status_code == 200

    assert not is_token_valid(service, token)
    assert read_problem(refresh_session(service), 401)["code"] == "session_ended"


def test_deleting_the_user_ends_its_sessions(service: Service) -> None:
    user = create_user(service)
    token = sign_in_for_token(service, username=user.username)
    deleted = service.http.delete(f"/m/u/users/{user.user_id}", headers=service.root())
    assert deleted.status_code == 200

    assert not is_token_valid(service, token)
    assert read_problem(refresh_session(service), 401)["code"] == "session_ended"


def test_a_session_ends_after_twelve_hours_without_refresh(service: Service) -> None:
    sign_in_for_token(service)

    with time_machine.travel(datetime.now(UTC) + timedelta(hours=12, seconds=5), tick=False):
        assert read_problem(refresh_session(service), 401)["code"] == "session_ended"
