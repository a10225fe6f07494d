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

each_product = pytest.mark.parametrize("product", PRODUCTS)


def later(**span: float) -> time_machine.travel:
    """Stop the clock at this time from now."""
    return time_machine.travel(datetime.now(UTC) + timedelta(**span), tick=False)


@each_product
@pytest.mark.parametrize("grant", ["client_credentials", "password"])
def test_a_refresh_token_is_exchanged_for_new_tokens_of_the_same_caller(
    service: Service, product: Product, grant: str
) -> None:
    organisation = service.organisation
    form = (
        client_form(organisation)
        if grant == "client_credentials"
        else password_form(organisation, "root")
    )
    first = issue_tokens(service, form, product)

    second = issue_tokens(service, refresh_form(organisation, first["refresh_token"]), product)

    assert set(second) == set(first)
    assert second["expires_in"] == 86_400
    assert second["refresh_token"] != first["refresh_token"]
    assert second["access_token"] != first["access_token"]
    before, after = (decode_claims(tokens["access_token"]) for tokens in (first, second))
    same = ("iss", "aud", "sub", "sub_type", "client_id", "tid", "ep")
    assert {name: before[name] for name in same} == {name: after[name] for name in same}
    assert is_token_valid(service, second["access_token"])


def test_a_refresh_token_has_256_random_bits(service: Service) -> None:
    token = issue_tokens(service, client_form(service.organisation))["refresh_token"]

    assert re.fullmatch(r"nb_rt_[A-Za-z0-9_-]{43}", token)


def test_only_the_hash_is_stored(service: Service) -> None:
    organisation = service.organisation
    first = issue_tokens(service, client_form(organisation))["refresh_token"]
    second = issue_tokens(service, refresh_form(organisation, first))["refresh_token"]

    async def read_rows() -> str:
        async with transaction(service.resources.engine, organisation.organisation_id) as db:
            rows = (await db.execute(sa.select(records.refresh_tokens))).all()
        assert len(rows) == 2
        return repr([tuple(row) for row in rows])

    rows = service.run(read_rows)
    assert first not in rows
    assert second not in rows


def test_tokens_can_be_refreshed_repeatedly(service: Service) -> None:
    organisation = service.organisation
    token = issue_tokens(service, client_form(organisation))["refresh_token"]

    for _ in range(5):
        token = issue_tokens(service, refresh_form(organisation, token))["refresh_token"]


def test_a_repetition_within_ten_seconds_returns_the_same_successor(service: Service) -> None:
    organisation = service.organisation
    token = issue_tokens(service, client_form(organisation))["refresh_token"]
    successor = issue_tokens(service, refresh_form(organisation, token))["refresh_token"]

    with later(seconds=9):
        again = issue_tokens(service, refresh_form(organisation, token))["refresh_token"]
        assert again == successor
        assert (
            issue_tokens(service, refresh_form(organisation, again))["refresh_token"] != successor
        )


def test_a_later_repetition_revokes_the_family(service: Service) -> None:
    organisation = service.organisation
    first = issue_tokens(service, client_form(organisation))["refresh_token"]
    second = issue_tokens(service, refresh_form(organisation, first))["refresh_token"]

    with later(seconds=10.1):
        read_oauth_error(
            request_token(service, refresh_form(organisation, first)), 400, "invalid_grant"
        )
        for token in (first, second, first):
            read_oauth_error(
                request_token(service, refresh_form(organisation, token)), 400, "invalid_grant"
            )
    read_oauth_error(
        request_token(service, refresh_form(organisation, second)), 400, "invalid_grant"
    )


@each_product
@pytest.mark.parametrize("grant", ["client_credentials", "password"])
def test_a_later_repetition_ends_the_access_tokens_of_the_family(
    service: Service, product: Product, grant: str
) -> None:
    organisation = service.organisation
    form = (
        client_form(organisation)
        if grant == "client_credentials"
        else password_form(organisation, "root")
    )
    first, other = issue_tokens(service, form, product), issue_tokens(service, form, product)
    second = issue_tokens(service, refresh_form(organisation, first["refresh_token"]), product)

    with later(seconds=11):
        again = request_token(service, refresh_form(organisation, first["refresh_token"]), product)
        read_oauth_error(again, 400, "invalid_grant")

    assert not is_token_valid(service, first["access_token"])
    assert not is_token_valid(service, second["access_token"])
    assert is_token_valid(service, other["access_token"])


def test_another_family_of_the_same_client_stays_valid(service: Service) -> None:
    organisation = service.organisation
    stolen, own = (
        issue_tokens(service, client_form(organisation))["refresh_token"] for _ in range(2)
    )
    issue_tokens(service, refresh_form(organisation, stolen))
    with later(seconds=11):
        read_oauth_error(
            request_token(service, refresh_form(organisation, stolen)), 400, "invalid_grant"
        )

        assert issue_tokens(service, refresh_form(organisation, own))


def test_fifty_concurrent_uses_have_the_same_successor(service: Service) -> None:
    organisation = service.organisation
    token = issue_tokens(service, client_form(organisation))["refresh_token"]

    responses = run_concurrently(
        [lambda: request_token(service, refresh_form(organisation, token))] * 50
    )

    assert {response.status_code for response in responses} == {200}
    assert len({response.json()["refresh_token"] for response in responses}) == 1


# ── refusals ─────────────────────────────────────────────────────────────────────────────────────


def test_another_client_cannot_use_or_revoke_a_token(service: Service) -> None:
    user = create_user(service)
    token = issue_tokens(service, client_form(service.organisation))["refresh_token"]

    for other in (user, service.new_organisation()):
        read_oauth_error(request_token(service, refresh_form(other, token)), 400, "invalid_grant")

    assert issue_tokens(service, refresh_form(service.organisation, token))


def test_another_client_does_not_get_the_successor_within_ten_seconds(service: Service) -> None:
    user = create_user(service)
    organisation = service.organisation
    token = issue_tokens(service, client_form(organisation))["refresh_token"]
    successor = issue_tokens(service, refresh_form(organisation, token))["refresh_token"]

    read_oauth_error(request_token(service, refresh_form(user, token)), 400, "invalid_grant")
    assert issue_tokens(service, refresh_form(organisation, successor))


@each_product
def test_the_other_product_refuses_the_token(service: Service, product: Product) -> None:
    (other,) = set(PRODUCTS) - {product}
    token = issue_tokens(service, client_form(service.organisation), product)["refresh_token"]

    response = request_token(service, refresh_form(service.organisation, token), other)

    read_oauth_error(response, 400, "invalid_grant")


def test_an_invalid_refresh_token_is_refused(service: Service) -> None:
    for token in ("", "nonsense", "nb_rt_" + "A" * 43, "x" * 60_000, "山田", "'"):
        response = request_token(service, refresh_form(service.organisation, token))

        read_oauth_error(response, 400, "invalid_grant" if token else "invalid_request")


def test_a_wrong_secret_is_refused_before_the_token_is_used(service: Service) -> None:
    organisation = service.organisation
    token = issue_tokens(service, client_form(organisation))["refresh_token"]
    wrong = refresh_form(organisation, token) | {"client_secret": "guessed 5d"}

    read_oauth_error(request_token(service, wrong), 401, "invalid_client")

    assert issue_tokens(service, refresh_form(organisation, token))


def test_access_and_id_tokens_are_refused_as_refresh_tokens(service: Service) -> None:
    tokens = issue_tokens(service, client_form(service.organisation))

    for name in ("access_token", "id_token"):
        response = request_token(service, refresh_form(service.organisation, tokens[name]))
        read_oauth_error(response, 400, "invalid_grant")


def test_a_token_expires_after_twelve_hours_without_use(service: Service) -> None:
    organisation = service.organisation
    unused, used = (
        issue_tokens(service, client_form(organisation))["refresh_token"] for _ in range(2)
    )

    with later(hours=12, seconds=-5):
        used = issue_tokens(service, refresh_form(organisation, used))["refresh_token"]
    with later(hours=12, seconds=5):
        read_oauth_error(
            request_token(service, refresh_form(organisation, unused)), 400, "invalid_grant"
        )
        assert issue_tokens(service, refresh_form(organisation, used))


def test_a_family_expires_after_seven_days(service: Service) -> None:
    organisation = service.organisation
    token = issue_tokens(service, client_form(organisation))["refresh_token"]
    for hours in range(11, 7 * 24, 11):  # the last refresh is at 165 of 168 hours
        with later(hours=hours):
            token = issue_tokens(service, refresh_form(organisation, token))["refresh_token"]

    with later(days=7, seconds=5):
        read_oauth_error(
            request_token(service, refresh_form(organisation, token)), 400, "invalid_grant"
        )


def test_a_password_change_revokes_refresh_tokens(service: Service) -> None:
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


def test_deleting_the_client_deletes_its_refresh_tokens(service: Service) -> None:
    user = create_user(service)
    own = issue_tokens(service, client_form(user))["refresh_token"]
    root_token = issue_tokens(service, password_form(user, "root", PASSWORD))["refresh_token"]
    path = f"/m/u/users/client/{user.user_id}/{user.client_id}"
    assert service.http.delete(path, headers=service.root()).status_code == 200

    for token in (own, root_token):
        read_oauth_error(request_token(service, refresh_form(user, token)), 401, "invalid_client")
        read_oauth_error(
            request_token(service, refresh_form(service.organisation, token)), 400, "invalid_grant"
        )


def test_deleting_the_user_deletes_its_refresh_tokens(service: Service) -> None:
    user = create_user(service)
    root_token = issue_tokens(service, password_form(service.organisation, user.username))[
        "refresh_token"
    ]
    deleted = service.http.delete(f"/m/u/users/{user.user_id}", headers=service.root())
    assert deleted.status_code == 200

    read_oauth_error(
        request_token(service, refresh_form(service.organisation, root_token)), 400, "invalid_grant"
    )


def test_concurrent_refresh_and_deletion_do_not_deadlock(service: Service) -> None:
    """Both lock the client or family before its tokens."""
    for number in range(5):
        user = create_user(service, f"race{number}")
        form = refresh_form(user, issue_tokens(service, client_form(user))["refresh_token"])
        refresh = partial(request_token, service, form)
        delete = partial(service.http.delete, f"/m/u/users/{user.user_id}", headers=service.root())

        *refreshes, deleted = run_concurrently([*[refresh] * 6, delete])

        assert deleted.status_code == 200
        assert {response.status_code for response in refreshes} <= {200, 400, 401}
        read_oauth_error(refresh(), 401, "invalid_client")


def test_a_clock_that_is_set_back_does_not_extend_the_repeat_window(service: Service) -> None:
    organisation = service.organisation
    token = issue_tokens(service, client_form(organisation))["refresh_token"]
    with later(hours=1):
        issue_tokens(service, refresh_form(organisation, token))

    read_oauth_error(
        request_token(service, refresh_form(organisation, token)), 400, "invalid_grant"
    )
