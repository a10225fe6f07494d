"""POST /core/session/refresh, DELETE /core/session, and the same of the portal"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from nimbill.foundation.vocabulary import Product
from tests.answers import problem_of
from tests.identity.login.asking import (
    BOTH,
    as_client,
    as_user,
    bearer,
    issued,
    new_user,
    refreshing,
    stands,
)
from tests.identity.login.console import cookies_of, refresh, sign_in, signed_in
from tests.people import all_at_once
from tests.running_service import Service

both_products = pytest.mark.parametrize("product", BOTH)


# ── refreshing ───────────────────────────────────────────────────────────────────────────────────


@both_products
def test_the_cookie_is_exchanged_for_a_new_token_and_a_new_cookie(
    service: Service, product: Product
) -> None:
    first = sign_in(service, product)

    second = refresh(service, product)

    assert second.status_code == 200
    assert set(second.json()) == set(first.json())
    name = f"nimbill_{product}_session"
    before, after = cookies_of(first)[name].value, cookies_of(second)[name].value
    assert before != after
    for token in (first.json()["access_token"], second.json()["access_token"]):
        assert stands(service, token)
    assert refresh(service, product).status_code == 200


def test_two_tabs_that_refresh_at_once_both_go_on(service: Service) -> None:
    signed_in(service)
    cookie = {"Cookie": f"nimbill_core_session={service.http.cookies['nimbill_core_session']}"}
    service.http.cookies.clear()

    answers = all_at_once([lambda: refresh(service, headers=cookie)] * 8)

    assert {answer.status_code for answer in answers} == {200}
    held = {cookies_of(answer)["nimbill_core_session"].value for answer in answers}
    assert len(held) == 1


def test_a_cookie_that_comes_back_late_ends_the_session_at_once(service: Service) -> None:
    token = signed_in(service)
    stolen = service.http.cookies["nimbill_core_session"]
    refreshed = refresh(service).json()["access_token"]

    with time_machine.travel(datetime.now(UTC) + timedelta(seconds=11), tick=False):
        service.http.cookies.clear()
        late = refresh(service, headers={"Cookie": f"nimbill_core_session={stolen}"})

        assert problem_of(late, 401)["code"] == "session_ended"
        assert not stands(service, token)
        assert not stands(service, refreshed)


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
    answer = refresh(
        service,
        headers={"Cookie": f'nimbill_core_session="{cookie}"'},
    )

    assert problem_of(answer, 401)["code"] == "session_ended"


def test_the_cookie_of_one_product_does_not_open_the_other(service: Service) -> None:
    signed_in(service)
    held = service.http.cookies["nimbill_core_session"]
    service.http.cookies.clear()

    answer = refresh(service, Product.portal, headers={"Cookie": f"nimbill_portal_session={held}"})

    assert problem_of(answer, 401)["code"] == "session_ended"


def test_a_refresh_token_of_a_client_is_no_cookie_and_the_other_way_round(
    service: Service,
) -> None:
    who = service.organisation
    token = issued(service, as_user(who, "root"))["refresh_token"]
    answer = refresh(
        service, headers={"Cookie": f"nimbill_core_session={who.organisation_id}.{token}"}
    )
    assert problem_of(answer, 401)["code"] == "session_ended"

    signed_in(service)
    held = service.http.cookies["nimbill_core_session"].split(".")[1]
    as_form = service.http.post("/core/access_token", data=refreshing(who, held))
    assert as_form.json()["error"] == "invalid_grant"


# ── signing out, and what else ends a session ────────────────────────────────────────────────────


@both_products
def test_signing_out_ends_every_session_of_the_user_and_no_client(
    service: Service, product: Product
) -> None:
    client_token = issued(service, as_client(service.organisation), product)
    user_token = issued(service, as_user(service.organisation, "root"), product)
    elsewhere = signed_in(service, product)
    cookie_elsewhere = service.http.cookies[f"nimbill_{product}_session"]
    here = signed_in(service, product)

    answer = service.http.delete(f"/{product}/session", headers=bearer(here))

    assert answer.status_code == 200
    assert answer.json() == {"status": "success"}
    assert not stands(service, here)
    assert not stands(service, elsewhere)
    cleared = cookies_of(answer)[f"nimbill_{product}_session"]
    assert (cleared.value, cleared["path"]) == ("", f"/{product}/session")
    late = refresh(
        service, product, headers={"Cookie": f"nimbill_{product}_session={cookie_elsewhere}"}
    )
    assert problem_of(late, 401)["code"] == "session_ended"
    for told in (client_token, user_token):
        assert stands(service, told["access_token"])
        again = refreshing(service.organisation, told["refresh_token"])
        assert issued(service, again, product)


def test_somebody_elses_session_goes_on(service: Service) -> None:
    user = new_user(service)
    theirs = signed_in(service, username=user.username)
    mine = signed_in(service)

    assert service.http.delete("/core/session", headers=bearer(mine)).status_code == 200

    assert stands(service, theirs)


def test_signing_out_needs_a_token_of_the_same_product(service: Service) -> None:
    assert service.http.delete("/core/session").status_code == 401
    token = signed_in(service, Product.portal)

    assert service.http.delete("/core/session", headers=bearer(token)).status_code == 401
    assert stands(service, token)


def test_a_changed_password_ends_every_session(service: Service) -> None:
    user = new_user(service)
    token = signed_in(service, username=user.username)
    path = f"/m/u/users/{user.user_id}/password"
    changed = service.http.put(path, json={"password": "another 77"}, headers=service.root())
    assert changed.status_code == 200

    assert not stands(service, token)
    assert problem_of(refresh(service), 401)["code"] == "session_ended"


def test_a_deleted_user_is_signed_out(service: Service) -> None:
    user = new_user(service)
    token = signed_in(service, username=user.username)
    deleted = service.http.delete(f"/m/u/users/{user.user_id}", headers=service.root())
    assert deleted.status_code == 200

    assert not stands(service, token)
    assert problem_of(refresh(service), 401)["code"] == "session_ended"


def test_a_session_ends_after_twelve_hours_unused(service: Service) -> None:
    signed_in(service)

    with time_machine.travel(datetime.now(UTC) + timedelta(hours=12, seconds=5), tick=False):
        assert problem_of(refresh(service), 401)["code"] == "session_ended"
