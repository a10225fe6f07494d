"""POST /core/access_token and POST /access_token with grant_type=refresh_token"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
import sqlalchemy as sa
import time_machine

from nimbill.database.tenant_scope import transaction
from nimbill.foundation.product import Product
from nimbill.identity.login import records
from tests.identity.login.token_requests import (
    PRODUCTS,
    client_form,
    create_user,
    decode_claims,
    is_token_valid,
    issue_tokens,
    password_form,
    read_oauth_error,
    refresh_form,
    request_token,
)
from tests.running_service import PASSWORD, Service
from tests.subusers import run_concurrently

both_products = pytest.mark.parametrize("product", PRODUCTS)


def later(**span: float) -> time_machine.travel:
    """The clock stopped this much from now."""
    return time_machine.travel(datetime.now(UTC) + timedelta(**span), tick=False)


@both_products
@pytest.mark.parametrize("grant", ["client_credentials", "password"])
def test_a_refresh_token_is_exchanged_for_new_tokens_of_the_same_caller(
    service: Service, product: Product, grant: str
) -> None:
    who = service.organisation
    form = client_form(who) if grant == "client_credentials" else password_form(who, "root")
    first = issue_tokens(service, form, product)

    second = issue_tokens(service, refresh_form(who, first["refresh_token"]), product)

    assert set(second) == set(first)
    assert second["expires_in"] == 86_400
    assert second["refresh_token"] != first["refresh_token"]
    assert second["access_token"] != first["access_token"]
    before, after = (decode_claims(told["access_token"]) for told in (first, second))
    same = ("iss", "aud", "sub", "sub_type", "client_id", "tid", "ep")
    assert {name: before[name] for name in same} == {name: after[name] for name in same}
    assert is_token_valid(service, second["access_token"])


def test_it_is_opaque_and_holds_256_random_bits(service: Service) -> None:
    token = issue_tokens(service, client_form(service.organisation))["refresh_token"]

    assert re.fullmatch(r"nb_rt_[A-Za-z0-9_-]{43}", token)


def test_only_its_hash_is_stored(service: Service) -> None:
    who = service.organisation
    first = issue_tokens(service, client_form(who))["refresh_token"]
    second = issue_tokens(service, refresh_form(who, first))["refresh_token"]

    async def stored() -> str:
        async with transaction(service.resources.engine, who.organisation_id) as db:
            rows = (await db.execute(sa.select(records.refresh_tokens))).all()
        assert len(rows) == 2
        return repr([tuple(row) for row in rows])

    everything = service.run(stored)
    assert first not in everything
    assert second not in everything


def test_a_chain_of_refreshes_goes_on(service: Service) -> None:
    who = service.organisation
    token = issue_tokens(service, client_form(who))["refresh_token"]

    for _ in range(5):
        token = issue_tokens(service, refresh_form(who, token))["refresh_token"]


def test_a_repeat_within_ten_seconds_gets_the_same_successor(service: Service) -> None:
    who = service.organisation
    token = issue_tokens(service, client_form(who))["refresh_token"]
    successor = issue_tokens(service, refresh_form(who, token))["refresh_token"]

    with later(seconds=9):
        again = issue_tokens(service, refresh_form(who, token))["refresh_token"]
        assert again == successor
        assert issue_tokens(service, refresh_form(who, again))["refresh_token"] != successor


def test_a_later_repeat_ends_the_family_for_good(service: Service) -> None:
    who = service.organisation
    first = issue_tokens(service, client_form(who))["refresh_token"]
    second = issue_tokens(service, refresh_form(who, first))["refresh_token"]

    with later(seconds=10.1):
        read_oauth_error(request_token(service, refresh_form(who, first)), 400, "invalid_grant")
        for token in (first, second, first):
            read_oauth_error(request_token(service, refresh_form(who, token)), 400, "invalid_grant")
    read_oauth_error(request_token(service, refresh_form(who, second)), 400, "invalid_grant")


def test_another_family_of_the_same_client_goes_on(service: Service) -> None:
    who = service.organisation
    stolen, own = (issue_tokens(service, client_form(who))["refresh_token"] for _ in range(2))
    issue_tokens(service, refresh_form(who, stolen))
    with later(seconds=11):
        read_oauth_error(request_token(service, refresh_form(who, stolen)), 400, "invalid_grant")

        assert issue_tokens(service, refresh_form(who, own))


def test_fifty_uses_at_once_have_one_successor(service: Service) -> None:
    who = service.organisation
    token = issue_tokens(service, client_form(who))["refresh_token"]

    answers = run_concurrently([lambda: request_token(service, refresh_form(who, token))] * 50)

    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.json()["refresh_token"] for answer in answers}) == 1


# ── what does not stand ──────────────────────────────────────────────────────────────────────────


def test_another_client_cannot_use_it_and_does_no_harm(service: Service) -> None:
    user = create_user(service)
    token = issue_tokens(service, client_form(service.organisation))["refresh_token"]

    for stranger in (user, service.new_organisation()):
        read_oauth_error(
            request_token(service, refresh_form(stranger, token)), 400, "invalid_grant"
        )

    assert issue_tokens(service, refresh_form(service.organisation, token))


def test_another_client_learns_no_successor_within_the_ten_seconds(service: Service) -> None:
    user = create_user(service)
    who = service.organisation
    token = issue_tokens(service, client_form(who))["refresh_token"]
    successor = issue_tokens(service, refresh_form(who, token))["refresh_token"]

    read_oauth_error(request_token(service, refresh_form(user, token)), 400, "invalid_grant")
    assert issue_tokens(service, refresh_form(who, successor))


@both_products
def test_the_other_product_does_not_take_it(service: Service, product: Product) -> None:
    (other,) = set(PRODUCTS) - {product}
    token = issue_tokens(service, client_form(service.organisation), product)["refresh_token"]

    answer = request_token(service, refresh_form(service.organisation, token), other)

    read_oauth_error(answer, 400, "invalid_grant")


@pytest.mark.parametrize("token", ["", "nonsense", "nb_rt_" + "A" * 43, "x" * 60_000, "山田", "'"])
def test_what_is_no_refresh_token_is_refused(service: Service, token: str) -> None:
    answer = request_token(service, refresh_form(service.organisation, token))

    read_oauth_error(answer, 400, "invalid_grant" if token else "invalid_request")


def test_a_wrong_secret_is_refused_before_the_token_is_looked_at(service: Service) -> None:
    who = service.organisation
    token = issue_tokens(service, client_form(who))["refresh_token"]
    wrong = refresh_form(who, token) | {"client_secret": "guessed 5d"}

    read_oauth_error(request_token(service, wrong), 401, "invalid_client")

    assert issue_tokens(service, refresh_form(who, token))


def test_neither_access_nor_id_token_refreshes(service: Service) -> None:
    told = issue_tokens(service, client_form(service.organisation))

    for name in ("access_token", "id_token"):
        answer = request_token(service, refresh_form(service.organisation, told[name]))
        read_oauth_error(answer, 400, "invalid_grant")


def test_twelve_hours_unused_are_the_end(service: Service) -> None:
    who = service.organisation
    unused, used = (issue_tokens(service, client_form(who))["refresh_token"] for _ in range(2))

    with later(hours=12, seconds=-5):
        used = issue_tokens(service, refresh_form(who, used))["refresh_token"]
    with later(hours=12, seconds=5):
        read_oauth_error(request_token(service, refresh_form(who, unused)), 400, "invalid_grant")
        assert issue_tokens(service, refresh_form(who, used))


def test_seven_days_are_the_end_however_often_it_was_used(service: Service) -> None:
    who = service.organisation
    token = issue_tokens(service, client_form(who))["refresh_token"]
    for hours in range(11, 7 * 24, 11):  # the last at 165 of 168 hours
        with later(hours=hours):
            token = issue_tokens(service, refresh_form(who, token))["refresh_token"]

    with later(days=7, seconds=5):
        read_oauth_error(request_token(service, refresh_form(who, token)), 400, "invalid_grant")


def test_a_changed_password_ends_it(service: Service) -> None:
    user = create_user(service)
    tokens = [
        issue_tokens(service, form)["refresh_token"]
        for form in (client_form(user), password_form(user, user.username))
    ]
    changed = service.http.put(
        f"/m/u/users/{user.user_id}/password",
        json={"password": "another 77"},
        headers=service.root(),
    )
    assert changed.status_code == 200, changed.text

    for token in tokens:
        read_oauth_error(request_token(service, refresh_form(user, token)), 400, "invalid_grant")
    assert issue_tokens(service, client_form(user))


def test_a_deleted_client_takes_it_along(service: Service) -> None:
    user = create_user(service)
    own = issue_tokens(service, client_form(user))["refresh_token"]
    carried = issue_tokens(service, password_form(user, "root", PASSWORD))["refresh_token"]
    path = f"/m/u/users/client/{user.user_id}/{user.client_id}"
    assert service.http.delete(path, headers=service.root()).status_code == 200

    for token in (own, carried):
        read_oauth_error(request_token(service, refresh_form(user, token)), 401, "invalid_client")
        read_oauth_error(
            request_token(service, refresh_form(service.organisation, token)), 400, "invalid_grant"
        )


def test_a_deleted_user_takes_it_along(service: Service) -> None:
    user = create_user(service)
    carried = issue_tokens(service, password_form(service.organisation, user.username))[
        "refresh_token"
    ]
    deleted = service.http.delete(f"/m/u/users/{user.user_id}", headers=service.root())
    assert deleted.status_code == 200

    read_oauth_error(
        request_token(service, refresh_form(service.organisation, carried)), 400, "invalid_grant"
    )


def test_a_refresh_that_meets_a_deletion_is_a_plain_answer(service: Service) -> None:
    """Neither waits for the other: deleting goes from the client down, refreshing does too."""
    for number in range(5):
        user = create_user(service, f"race{number}")
        form = refresh_form(user, issue_tokens(service, client_form(user))["refresh_token"])
        refresh = partial(request_token, service, form)
        delete = partial(service.http.delete, f"/m/u/users/{user.user_id}", headers=service.root())

        *refreshed, deleted = run_concurrently([*[refresh] * 6, delete])

        assert deleted.status_code == 200
        assert {answer.status_code for answer in refreshed} <= {200, 400, 401}
        read_oauth_error(refresh(), 401, "invalid_client")


def test_a_clock_that_is_put_back_gives_nobody_more_time(service: Service) -> None:
    who = service.organisation
    token = issue_tokens(service, client_form(who))["refresh_token"]
    with later(hours=1):
        issue_tokens(service, refresh_form(who, token))

    read_oauth_error(request_token(service, refresh_form(who, token)), 400, "invalid_grant")
