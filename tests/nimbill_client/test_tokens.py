"""The client obtains, renews and refreshes its tokens by itself."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from nimbill_client import LoginFailed, NotAuthenticated
from tests.nimbill_client.prepared_service import PASSWORD, SECRET, PreparedService, problem

NO_ROLES = httpx.Response(200, json=[])
REFUSED = httpx.Response(401, json={"error": "invalid_client", "error_description": "Unknown."})
USER = {"username": "ann", "password": PASSWORD}


def test_one_token_is_used_until_shortly_before_it_expires() -> None:
    service = PreparedService(answers=[NO_ROLES] * 3)
    client = service.client()

    client.roles.list_all()
    service.seconds = 569
    client.roles.list_all()
    service.seconds = 571
    client.roles.list_all()

    assert service.used_tokens == ["Bearer token-1", "Bearer token-1", "Bearer token-2"]
    credentials = {"client_id": "cli-1", "client_secret": SECRET}
    assert service.token_forms == [{"grant_type": "client_credentials", **credentials}] * 2


def test_threads_share_one_token() -> None:
    service = PreparedService(answers=[NO_ROLES] * 8)
    client = service.client()

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda _: client.roles.list_all(), range(8)))

    assert set(service.used_tokens) == {"Bearer token-1"}
    assert len(service.token_forms) == 1


def test_no_token_is_requested_before_it_is_needed() -> None:
    service = PreparedService()

    with service.client():
        pass

    assert service.token_forms == []


def test_a_user_logs_in_with_the_password_once_and_then_refreshes() -> None:
    service = PreparedService(answers=[NO_ROLES] * 3)
    client = service.client(**USER)

    for moment in (0, 600, 1200):
        service.seconds = moment
        client.roles.list_all()

    assert [form["grant_type"] for form in service.token_forms] == [
        "password",
        "refresh_token",
        "refresh_token",
    ]
    assert service.token_forms[0]["password"] == PASSWORD
    assert [form.get("refresh_token") for form in service.token_forms[1:]] == [
        "refresh-1",
        "refresh-2",
    ]


@pytest.mark.parametrize(
    "lost", [httpx.Response(400, json={"error": "invalid_grant"}), httpx.ReadError("reset")]
)
def test_a_user_logs_in_again_if_the_refresh_token_is_of_no_use(lost: httpx.Response) -> None:
    service = PreparedService(answers=[NO_ROLES] * 2)
    client = service.client(**USER)
    client.roles.list_all()
    service.seconds, service.token_answers = 600, [lost]

    client.roles.list_all()

    grants = [form["grant_type"] for form in service.token_forms]
    assert grants == ["password", "refresh_token", "password"]  # the lost one is not sent again


def test_a_revoked_token_is_replaced_once() -> None:
    service = PreparedService(answers=[problem(401, "token_invalid"), NO_ROLES])

    service.client().roles.list_all()

    assert service.used_tokens == ["Bearer token-1", "Bearer token-2"]


def test_a_new_token_that_is_refused_too_is_an_error() -> None:
    service = PreparedService(answers=[problem(401, "token_invalid")] * 2)

    with pytest.raises(NotAuthenticated, match="token_invalid"):
        service.client().roles.list_all()


def test_wrong_credentials_are_an_error_with_the_code_of_oauth() -> None:
    service = PreparedService(token_answers=[REFUSED])

    with pytest.raises(LoginFailed) as caught:
        service.client().roles.list_all()

    assert (caught.value.status, caught.value.code) == (401, "invalid_client")
    assert caught.value.detail == "Unknown."
    assert SECRET not in str(caught.value) + repr(caught.value)


def test_a_login_waits_while_the_service_limits_the_rate() -> None:
    limited = problem(429, "too_many_requests", **{"Retry-After": "7"})
    service = PreparedService(answers=[NO_ROLES], token_answers=[limited])

    service.client().roles.list_all()

    assert service.pauses == [7]
