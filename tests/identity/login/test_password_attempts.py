"""How often a password may be guessed, per name: in the database, before it is checked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import httpx
import pytest
import time_machine

from nimbill.application.installed import PRODUCTS
from nimbill.database.tenant_scope import TenantScope, transaction
from nimbill.foundation import clock
from nimbill.foundation.product import Product
from nimbill.identity.login import records
from nimbill.identity.login.password_attempts import ATTEMPTS_MAX, UNKNOWN_ORGANISATION, WINDOW
from nimbill.identity.organisations.operations import NewOrganisation
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


def guess(service: Service, username: str, client: Client | None = None, times: int = 10) -> None:
    for _ in range(times):
        form = password_form(client or service.organisation, username, WRONG)
        read_oauth_error(request_token(service, form), 400, "invalid_grant")


def throttled(answer: httpx.Response) -> int:
    """The seconds after which one may come back."""
    read_oauth_error(answer, 429, "temporarily_unavailable")
    return int(answer.headers["retry-after"])


@pytest.fixture
def stranger(service: Service) -> ApiUser:
    """A client of the organisation from which nobody has logged in yet."""
    return create_user(service, "stranger")


# ── ten guesses ──────────────────────────────────────────────────────────────────────────────────


def test_the_limit_is_ten_in_fifteen_minutes() -> None:
    assert ATTEMPTS_MAX == 10
    assert WINDOW.total_seconds() == 900


@pytest.mark.parametrize("username", ["root", "nobody.here"])
def test_ten_wrong_guesses_then_come_back_later(service: Service, username: str) -> None:
    guess(service, username)

    seconds = throttled(
        request_token(service, password_form(service.organisation, username, WRONG))
    )

    assert 800 < seconds <= 901


def test_the_answer_does_not_say_whether_the_name_exists(service: Service) -> None:
    for username in ("root", "nobody.here"):
        guess(service, username)

    there, not_there = (
        request_token(service, password_form(service.organisation, username, WRONG))
        for username in ("root", "nobody.here")
    )

    assert there.status_code == not_there.status_code == 429
    assert there.content == not_there.content
    changing = {"x-request-id", "retry-after"}
    assert {n: v for n, v in there.headers.items() if n not in changing} == {
        n: v for n, v in not_there.headers.items() if n not in changing
    }


def test_the_right_password_does_not_help_either(service: Service) -> None:
    guess(service, "root")

    throttled(request_token(service, password_form(service.organisation, "root")))


def test_right_passwords_do_not_count(service: Service) -> None:
    guess(service, "root", times=9)
    for _ in range(12):
        issue_tokens(service, password_form(service.organisation, "root"))


def test_a_right_password_does_not_wipe_out_the_guesses(
    service: Service, stranger: ApiUser
) -> None:
    guess(service, "root", times=9)
    issue_tokens(service, password_form(stranger, "root"))
    other = create_user(service, "another")

    guess(service, "root", other, times=1)

    throttled(request_token(service, password_form(other, "root", WRONG)))


@pytest.mark.parametrize("product", PRODUCTS)
def test_all_endpoints_count_together(service: Service, product: Product) -> None:
    for number in range(10):
        asked = PRODUCTS[number % 3]
        read_oauth_error(
            request_token(service, password_form(service.organisation, "root", WRONG), asked),
            400,
            "invalid_grant",
        )

    throttled(request_token(service, password_form(service.organisation, "root", WRONG), product))
    assert sign_in(service, "root", WRONG).status_code == 429


def test_client_credentials_go_on(service: Service) -> None:
    guess(service, "root")

    assert issue_tokens(service, client_form(service.organisation))


def test_another_name_and_another_organisation_go_on(service: Service, stranger: ApiUser) -> None:
    elsewhere = service.new_organisation()
    guess(service, "root")

    assert issue_tokens(service, password_form(service.organisation, stranger.username))
    assert issue_tokens(service, password_form(elsewhere, "root"))


def test_spellings_of_one_name_are_one_name(service: Service) -> None:
    create_user(service, "minimi")
    # the database takes a Turkish capital İ for an i where its rules are those of Unicode
    spellings = ["minimi", "MINIMI", "Minimi", "mİnimi", "minİmi", "minimİ", "MİNİMİ"]
    for spelled in spellings[:7]:
        guess(service, spelled, times=1)
    guess(service, "mInImI", times=3)

    throttled(request_token(service, password_form(service.organisation, "minimi")))


# ── waiting and restarting ───────────────────────────────────────────────────────────────────────


def test_after_fifteen_minutes_one_may_guess_again(service: Service) -> None:
    now = datetime.now(UTC)
    guess(service, "root")

    with time_machine.travel(now + timedelta(minutes=14), tick=False):
        assert throttled(request_token(service, password_form(service.organisation, "root"))) <= 75
    with time_machine.travel(now + timedelta(minutes=16), tick=False):
        assert issue_tokens(service, password_form(service.organisation, "root"))


def test_being_refused_does_not_make_it_longer(service: Service) -> None:
    now = datetime.now(UTC)
    guess(service, "root")
    with time_machine.travel(now + timedelta(minutes=10), tick=False):
        for _ in range(5):
            throttled(request_token(service, password_form(service.organisation, "root", WRONG)))

    with time_machine.travel(now + timedelta(minutes=16), tick=False):
        assert issue_tokens(service, password_form(service.organisation, "root"))


@pytest.fixture
def restarted(service: Service, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A process that starts later on the same database."""
    key_file = str(service.settings.key_file)
    with running_service(
        service.database_url, tmp_path_factory.mktemp("restarted"), NIMBILL_KEY_FILE=key_file
    ) as other:
        yield other


def test_the_count_survives_a_restart(service: Service, restarted: Service) -> None:
    guess(service, "root")

    throttled(request_token(restarted, password_form(service.organisation, "root")))


# ── the right owner ──────────────────────────────────────────────────────────────────────────────


def test_strangers_who_guess_do_not_keep_the_owner_out(service: Service, stranger: ApiUser) -> None:
    issue_tokens(service, password_form(service.organisation, "root"))  # the owner's own client
    guess(service, "root", stranger)

    throttled(request_token(service, password_form(stranger, "root")))
    assert issue_tokens(service, password_form(service.organisation, "root"))


def test_a_known_source_has_ten_guesses_of_its_own_and_no_more(
    service: Service, stranger: ApiUser
) -> None:
    issue_tokens(service, password_form(service.organisation, "root"))
    guess(service, "root", stranger)
    guess(service, "root", service.organisation)

    throttled(request_token(service, password_form(service.organisation, "root")))


def test_what_is_known_for_one_user_is_strange_for_another(
    service: Service, stranger: ApiUser
) -> None:
    issue_tokens(service, password_form(service.organisation, "root"))
    guess(service, stranger.username)

    throttled(request_token(service, password_form(stranger, stranger.username)))


def test_a_browser_that_signed_in_before_is_known_by_its_cookie(
    service: Service, stranger: ApiUser
) -> None:
    assert sign_in(service, "root", PASSWORD).status_code == 200
    device = service.http.cookies["nimbill_device"]
    service.http.cookies.clear()
    guess(service, "root", stranger)

    assert sign_in(service, "root", PASSWORD).status_code == 429
    service.http.cookies.set("nimbill_device", "A" * 24)  # a guess at the cookie
    assert sign_in(service, "root", PASSWORD).status_code == 429
    service.http.cookies.clear()
    service.http.cookies.set("nimbill_device", device)
    assert sign_in(service, "root", PASSWORD).status_code == 200


# ── organisations that are none ──────────────────────────────────────────────────────────────────


def test_an_unknown_organisation_is_throttled_like_a_known_one(service: Service) -> None:
    unknown = f"no-such-{service.organisation.organisation_id[4:12]}"
    answers = {
        organisation: [sign_in(service, "root", WRONG, organisation) for _ in range(12)]
        for organisation in (unknown, service.organisation.organisation_id)
    }

    statuses = {tuple(answer.status_code for answer in answered) for answered in answers.values()}
    assert statuses == {(*[401] * 10, 429, 429)}
    (nowhere, here) = (without_id(answered[-1].json()) for answered in answers.values())
    assert nowhere == here


def without_id(problem: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in problem.items() if name != "instance"}


def test_old_guesses_are_forgotten(service: Service) -> None:
    unknown = f"no-such-{service.organisation.organisation_id[4:12]}"
    sign_in(service, "root", WRONG, unknown)
    guess(service, "root", times=1)
    scopes = (UNKNOWN_ORGANISATION, TenantScope(service.organisation.organisation_id))

    async def forget(scope: TenantScope, *, minutes: int) -> int:
        async with transaction(service.resources.engine, scope.organisation_id) as db:
            before = clock.now() + timedelta(minutes=minutes)
            await records.delete_old_attempts(db, scope, before=before)
            return len((await db.execute(records.login_attempts.select())).all())

    for scope in scopes:
        assert service.run(partial(forget, scope, minutes=-15)) >= 1
        assert service.run(partial(forget, scope, minutes=1)) == 0


def test_guesses_go_on_while_old_ones_are_forgotten(service: Service) -> None:
    scope = TenantScope(service.organisation.organisation_id)

    async def forget_and_forget() -> set[int]:
        for _ in range(60):
            async with transaction(service.resources.engine, scope.organisation_id) as db:
                await records.delete_old_attempts(db, scope, before=clock.now())
        return set()

    def log_in_and_in() -> set[int]:
        form = password_form(service.organisation, "root")
        return {request_token(service, form).status_code for _ in range(12)}

    calls: list[Callable[[], set[int]]] = [log_in_and_in] * 4
    statuses = run_concurrently([*calls, lambda: service.run(forget_and_forget)])

    assert statuses == [*[{200}] * 4, set()]


def test_a_clock_that_is_put_back_locks_nobody_out_for_longer(service: Service) -> None:
    now = datetime.now(UTC)
    with time_machine.travel(now + timedelta(hours=1), tick=False):
        guess(service, "root")

    with time_machine.travel(now, tick=False):
        assert issue_tokens(service, password_form(service.organisation, "root"))


def test_clocks_that_differ_a_little_count_together(service: Service) -> None:
    now = datetime.now(UTC)
    with time_machine.travel(now + timedelta(seconds=20), tick=False):
        guess(service, "root")

    with time_machine.travel(now, tick=False):
        assert throttled(request_token(service, password_form(service.organisation, "root"))) <= 921
