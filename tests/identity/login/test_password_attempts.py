"""Limit on password attempts per user name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import httpx
import pytest
import time_machine

from nimbill.access.login_failures import (
    OF_NAME,
    UNKNOWN_ORGANISATION,
    delete_old_attempts,
    login_attempts,
)
from nimbill.application.installed import PRODUCTS
from nimbill.database.tenant_scope import TenantScope, transaction
from nimbill.foundation import clock
from nimbill.foundation.product import Product
from nimbill.identity.organisations.operations import NewOrganisation, reset_password
from tests.identity.login.token_requests import (
    ApiUser,
    client_form,
    create_user,
    issue_tokens,
    password_form,
    read_oauth_error,
    request_token,
)
from tests.running_service import PASSWORD, Service, running_service
from tests.subusers import run_concurrently

WRONG = "guessed 5d"
Client = NewOrganisation | ApiUser


def sign_in(
    service: Service, username: str, password: str, organisation: str | None = None
) -> httpx.Response:
    body = {
        "organisation": organisation or service.organisation.organisation_id,
        "username": username,
        "password": password,
    }
    return service.http.post("/core/session", json=body)


def fail_logins(
    service: Service, username: str, client: Client | None = None, times: int = 10
) -> None:
    for _ in range(times):
        form = password_form(client or service.organisation, username, WRONG)
        read_oauth_error(request_token(service, form), 400, "invalid_grant")


def read_retry_after(response: httpx.Response) -> int:
    """Check that the login is throttled and return the seconds to wait."""
    read_oauth_error(response, 429, "temporarily_unavailable")
    return int(response.headers["retry-after"])


@pytest.fixture
def unknown_client(service: Service) -> ApiUser:
    """A client of the organisation through which no user has logged in yet."""
    return create_user(service, "stranger")


# ── ten attempts ─────────────────────────────────────────────────────────────────────────────────


def test_the_limit_is_ten_in_fifteen_minutes() -> None:
    assert OF_NAME.failures_max == 10
    assert OF_NAME.window.total_seconds() == 900


@pytest.mark.parametrize("username", ["root", "nobody.here"])
def test_after_ten_wrong_passwords_logins_are_refused(service: Service, username: str) -> None:
    fail_logins(service, username)

    seconds = read_retry_after(
        request_token(service, password_form(service.organisation, username, WRONG))
    )

    assert 800 < seconds <= 901


def test_the_response_does_not_reveal_whether_the_name_exists(service: Service) -> None:
    for username in ("root", "nobody.here"):
        fail_logins(service, username)

    existing, unknown = (
        request_token(service, password_form(service.organisation, username, WRONG))
        for username in ("root", "nobody.here")
    )

    assert existing.status_code == unknown.status_code == 429
    assert existing.content == unknown.content
    variable = {"x-request-id", "retry-after"}
    assert {n: v for n, v in existing.headers.items() if n not in variable} == {
        n: v for n, v in unknown.headers.items() if n not in variable
    }


def test_the_correct_password_is_refused_too(service: Service) -> None:
    fail_logins(service, "root")

    read_retry_after(request_token(service, password_form(service.organisation, "root")))


def test_correct_passwords_do_not_count(service: Service) -> None:
    fail_logins(service, "root", times=9)
    for _ in range(12):
        issue_tokens(service, password_form(service.organisation, "root"))


def test_a_correct_password_does_not_reset_the_count(
    service: Service, unknown_client: ApiUser
) -> None:
    fail_logins(service, "root", times=9)
    issue_tokens(service, password_form(unknown_client, "root"))
    other = create_user(service, "another")

    fail_logins(service, "root", other, times=1)

    read_retry_after(request_token(service, password_form(other, "root", WRONG)))


@pytest.mark.parametrize("product", PRODUCTS)
def test_all_endpoints_count_together(service: Service, product: Product) -> None:
    for number in range(10):
        counted = PRODUCTS[number % 3]
        read_oauth_error(
            request_token(service, password_form(service.organisation, "root", WRONG), counted),
            400,
            "invalid_grant",
        )

    read_retry_after(
        request_token(service, password_form(service.organisation, "root", WRONG), product)
    )
    assert sign_in(service, "root", WRONG).status_code == 429


def test_client_credentials_are_not_throttled(service: Service) -> None:
    fail_logins(service, "root")

    assert issue_tokens(service, client_form(service.organisation))


def test_other_names_and_other_organisations_are_not_throttled(
    service: Service, unknown_client: ApiUser
) -> None:
    other = service.new_organisation()
    fail_logins(service, "root")

    assert issue_tokens(service, password_form(service.organisation, unknown_client.username))
    assert issue_tokens(service, password_form(other, "root"))


def test_all_spellings_of_a_name_count_together(service: Service) -> None:
    create_user(service, "minimi")
    # With Unicode rules the database regards a Turkish capital İ as an i.
    spellings = ["minimi", "MINIMI", "Minimi", "mİnimi", "minİmi", "minimİ", "MİNİMİ"]
    for spelling in spellings:
        fail_logins(service, spelling, times=1)
    fail_logins(service, "mInImI", times=3)

    read_retry_after(request_token(service, password_form(service.organisation, "minimi")))


# ── time and restarts ────────────────────────────────────────────────────────────────────────────


def test_after_fifteen_minutes_logins_are_accepted_again(service: Service) -> None:
    now = datetime.now(UTC)
    fail_logins(service, "root")

    with time_machine.travel(now + timedelta(minutes=14), tick=False):
        assert (
            read_retry_after(request_token(service, password_form(service.organisation, "root")))
            <= 75
        )
    with time_machine.travel(now + timedelta(minutes=16), tick=False):
        assert issue_tokens(service, password_form(service.organisation, "root"))


def test_refused_logins_do_not_extend_the_wait(service: Service) -> None:
    now = datetime.now(UTC)
    fail_logins(service, "root")
    with time_machine.travel(now + timedelta(minutes=10), tick=False):
        for _ in range(5):
            read_retry_after(
                request_token(service, password_form(service.organisation, "root", WRONG))
            )

    with time_machine.travel(now + timedelta(minutes=16), tick=False):
        assert issue_tokens(service, password_form(service.organisation, "root"))


@pytest.fixture
def restarted(service: Service, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Another service that starts later on the same database."""
    key_file = str(service.settings.key_file)
    with running_service(
        service.database_url, tmp_path_factory.mktemp("restarted"), NIMBILL_KEY_FILE=key_file
    ) as other:
        yield other


def test_the_count_survives_a_restart(service: Service, restarted: Service) -> None:
    fail_logins(service, "root")

    read_retry_after(request_token(restarted, password_form(service.organisation, "root")))


# ── known sources ────────────────────────────────────────────────────────────────────────────────


def test_attempts_from_an_unknown_source_do_not_lock_the_user_out(
    service: Service, unknown_client: ApiUser
) -> None:
    issue_tokens(service, password_form(service.organisation, "root"))
    fail_logins(service, "root", unknown_client)

    read_retry_after(request_token(service, password_form(unknown_client, "root")))
    assert issue_tokens(service, password_form(service.organisation, "root"))


def test_a_known_source_has_ten_attempts_of_its_own(
    service: Service, unknown_client: ApiUser
) -> None:
    issue_tokens(service, password_form(service.organisation, "root"))
    fail_logins(service, "root", unknown_client)
    fail_logins(service, "root", service.organisation)

    read_retry_after(request_token(service, password_form(service.organisation, "root")))


def test_a_source_is_known_for_one_user_only(service: Service, unknown_client: ApiUser) -> None:
    issue_tokens(service, password_form(service.organisation, "root"))
    fail_logins(service, unknown_client.username)

    read_retry_after(request_token(service, password_form(unknown_client, unknown_client.username)))


def test_a_browser_that_signed_in_before_is_a_known_source(
    service: Service, unknown_client: ApiUser
) -> None:
    assert sign_in(service, "root", PASSWORD).status_code == 200
    device = service.http.cookies["nimbill_device"]
    service.http.cookies.clear()
    fail_logins(service, "root", unknown_client)

    assert sign_in(service, "root", PASSWORD).status_code == 429
    service.http.cookies.set("nimbill_device", "A" * 24)  # a forged cookie
    assert sign_in(service, "root", PASSWORD).status_code == 429
    service.http.cookies.clear()
    service.http.cookies.set("nimbill_device", device)
    assert sign_in(service, "root", PASSWORD).status_code == 200


# ── unknown organisations and old attempts ───────────────────────────────────────────────────────


def test_an_unknown_organisation_is_throttled_like_a_known_one(service: Service) -> None:
    unknown = f"no-such-{service.organisation.organisation_id[4:12]}"
    responses = {
        organisation: [sign_in(service, "root", WRONG, organisation) for _ in range(12)]
        for organisation in (unknown, service.organisation.organisation_id)
    }

    statuses = {tuple(each.status_code for each in group) for group in responses.values()}
    assert statuses == {(*[401] * 10, 429, 429)}
    unknown_problem, known_problem = (
        without_instance(group[-1].json()) for group in responses.values()
    )
    assert unknown_problem == known_problem


def without_instance(problem: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in problem.items() if name != "instance"}


def test_old_attempts_are_deleted(service: Service) -> None:
    unknown = f"no-such-{service.organisation.organisation_id[4:12]}"
    sign_in(service, "root", WRONG, unknown)
    fail_logins(service, "root", times=1)
    scopes = (UNKNOWN_ORGANISATION, TenantScope(service.organisation.organisation_id))

    async def delete_old(scope: TenantScope, *, minutes: int) -> int:
        async with transaction(service.resources.engine, scope.organisation_id) as db:
            before = clock.now() + timedelta(minutes=minutes)
            await delete_old_attempts(db, scope, before=before)
            return len((await db.execute(login_attempts.select())).all())

    for scope in scopes:
        assert service.run(partial(delete_old, scope, minutes=-15)) >= 1
        assert service.run(partial(delete_old, scope, minutes=1)) == 0


def test_logins_succeed_while_old_attempts_are_deleted(service: Service) -> None:
    scope = TenantScope(service.organisation.organisation_id)

    async def delete_repeatedly() -> set[int]:
        for _ in range(60):
            async with transaction(service.resources.engine, scope.organisation_id) as db:
                await delete_old_attempts(db, scope, before=clock.now())
        return set()

    def log_in_repeatedly() -> set[int]:
        form = password_form(service.organisation, "root")
        return {request_token(service, form).status_code for _ in range(12)}

    calls: list[Callable[[], set[int]]] = [log_in_repeatedly] * 4
    statuses = run_concurrently([*calls, lambda: service.run(delete_repeatedly)])

    assert statuses == [*[{200}] * 4, set()]


def test_a_clock_that_is_set_back_does_not_extend_the_wait(service: Service) -> None:
    now = datetime.now(UTC)
    with time_machine.travel(now + timedelta(hours=1), tick=False):
        fail_logins(service, "root")

    with time_machine.travel(now, tick=False):
        assert issue_tokens(service, password_form(service.organisation, "root"))


def test_attempts_of_servers_with_clock_skew_count_together(service: Service) -> None:
    now = datetime.now(UTC)
    with time_machine.travel(now + timedelta(seconds=20), tick=False):
        fail_logins(service, "root")

    with time_machine.travel(now, tick=False):
        assert (
            read_retry_after(request_token(service, password_form(service.organisation, "root")))
            <= 921
        )


# ── a reset password ─────────────────────────────────────────────────────────────────────────────


def test_a_password_reset_by_an_operator_lets_the_user_log_in_at_once(
    service: Service, unknown_client: ApiUser
) -> None:
    """From everywhere, and only this user."""
    other = create_user(service, "other.user")
    assert request_token(service, password_form(service.organisation, "root", PASSWORD)).is_success
    clients = (service.organisation, unknown_client)  # known and unknown to the user
    for client in clients:
        fail_logins(service, "root", client)
    fail_logins(service, other.username, unknown_client)
    for client in clients:
        read_retry_after(request_token(service, password_form(client, "root", PASSWORD)))

    resources, scope = service.resources, TenantScope(service.organisation.organisation_id)
    service.run(
        lambda: reset_password(
            resources.engine, resources.encryptor, scope, username="ROOT", password="new horse 8"
        )
    )

    for client in clients:
        assert request_token(service, password_form(client, "root", "new horse 8")).is_success
    read_retry_after(request_token(service, password_form(unknown_client, other.username, WRONG)))
