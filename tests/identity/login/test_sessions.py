"""POST /core/session/refresh, DELETE /core/session, and the same of the portal"""

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

both_products = pytest.mark.parametrize("product", PRODUCTS)


# ── refreshing ───────────────────────────────────────────────────────────────────────────────────


@both_products
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


def test_two_tabs_that_refresh_at_once_both_go_on(service: Service) -> None:
    sign_in_for_token(service)
    cookie = {"Cookie": f"nimbill_core_session={service.http.cookies['nimbill_core_session']}"}
    service.http.cookies.clear()

    answers = run_concurrently([lambda: refresh_session(service, headers=cookie)] * 8)

    assert {answer.status_code for answer in answers} == {200}
    held = {parse_cookies(answer)["nimbill_core_session"].value for answer in answers}
    assert len(held) == 1


def test_a_cookie_that_comes_back_late_ends_the_session_at_once(service: Service) -> None:
    token = sign_in_for_token(service)
    stolen = service.http.cookies["nimbill_core_session"]
    refreshed = refresh_session(service).json()["access_token"]

    with time_machine.travel(datetime.now(UTC) + timedelta(seconds=11), tick=False):
        service.http.cookies.clear()
        late = refresh_session(service, headers={"Cookie": f"nimbill_core_session={stolen}"})

        assert read_problem(late, 401)["code"] == "session_ended"
        assert not is_token_valid(service, token)
        assert not is_token_valid(service, refreshed)


@pytest.mark.parametrize(
    "cookie",
    [
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
    ],
)
def test_a_cookie_that_is_none_is_refused(service: Service, cookie: str) -> None:
    answer = refresh_session(
        service,
        headers={"Cookie": f'nimbill_core_session="{cookie}"'},
    )

    assert read_problem(answer, 401)["code"] == "session_ended"


def test_the_cookie_of_one_product_does_not_open_the_other(service: Service) -> None:
    sign_in_for_token(service)
    held = service.http.cookies["nimbill_core_session"]
    service.http.cookies.clear()

    answer = refresh_session(
        service, Product.portal, headers={"Cookie": f"nimbill_portal_session={held}"}
    )

    assert read_problem(answer, 401)["code"] == "session_ended"


def test_a_refresh_token_of_a_client_is_no_cookie_and_the_other_way_round(
    service: Service,
) -> None:
    who = service.organisation
    token = issue_tokens(service, password_form(who, "root"))["refresh_token"]
    answer = refresh_session(
        service, headers={"Cookie": f"nimbill_core_session={who.organisation_id}.{token}"}
    )
    assert read_problem(answer, 401)["code"] == "session_ended"

    sign_in_for_token(service)
    held = service.http.cookies["nimbill_core_session"].split(".")[1]
    as_form = service.http.post("/core/access_token", data=refresh_form(who, held))
    assert as_form.json()["error"] == "invalid_grant"


# ── signing out, and what else ends a session ────────────────────────────────────────────────────


@both_products
def test_signing_out_ends_every_session_of_the_user_and_no_client(
    service: Service, product: Product
) -> None:
    client_token = issue_tokens(service, client_form(service.organisation), product)
    user_token = issue_tokens(service, password_form(service.organisation, "root"), product)
    elsewhere = sign_in_for_token(service, product)
    cookie_elsewhere = service.http.cookies[f"nimbill_{product}_session"]
    here = sign_in_for_token(service, product)

    answer = service.http.delete(f"/{product}/session", headers=bearer_headers(here))

    assert answer.status_code == 200
    assert answer.json() == {"status": "success"}
    assert not is_token_valid(service, here)
    assert not is_token_valid(service, elsewhere)
    cleared = parse_cookies(answer)[f"nimbill_{product}_session"]
    assert (cleared.value, cleared["path"]) == ("", f"/{product}/session")
    late = refresh_session(
        service, product, headers={"Cookie": f"nimbill_{product}_session={cookie_elsewhere}"}
    )
    assert read_problem(late, 401)["code"] == "session_ended"
    for told in (client_token, user_token):
        assert is_token_valid(service, told["access_token"])
        again = refresh_form(service.organisation, told["refresh_token"])
        assert issue_tokens(service, again, product)


def test_somebody_elses_session_goes_on(service: Service) -> None:
    user = create_user(service)
    theirs = sign_in_for_token(service, username=user.username)
    mine = sign_in_for_token(service)

    assert service.http.delete("/core/session", headers=bearer_headers(mine)).status_code == 200

    assert is_token_valid(service, theirs)


def test_signing_out_needs_a_token_of_the_same_product(service: Service) -> None:
    assert service.http.delete("/core/session").status_code == 401
    token = sign_in_for_token(service, Product.portal)

    assert service.http.delete("/core/session", headers=bearer_headers(token)).status_code == 401
    assert is_token_valid(service, token)


def test_a_changed_password_ends_every_session(service: Service) -> None:
    user = create_user(service)
    token = sign_in_for_token(service, username=user.username)
    path = f"/m/u/users/{user.user_id}/password"
    changed = service.http.put(path, json={"password": "another 77"}, headers=service.root())
    assert changed.status_code == 200

    assert not is_token_valid(service, token)
    assert read_problem(refresh_session(service), 401)["code"] == "session_ended"


def test_a_deleted_user_is_signed_out(service: Service) -> None:
    user = create_user(service)
    token = sign_in_for_token(service, username=user.username)
    deleted = service.http.delete(f"/m/u/users/{user.user_id}", headers=service.root())
    assert deleted.status_code == 200

    assert not is_token_valid(service, token)
    assert read_problem(refresh_session(service), 401)["code"] == "session_ended"


def test_a_session_ends_after_twelve_hours_unused(service: Service) -> None:
    sign_in_for_token(service)

    with time_machine.travel(datetime.now(UTC) + timedelta(hours=12, seconds=5), tick=False):
        assert read_problem(refresh_session(service), 401)["code"] == "session_ended"
