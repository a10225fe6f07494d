"""Errors say what was refused and why, and contain no secret."""

from __future__ import annotations

import traceback

import httpx
import pytest

from nimbill_client import (
    ApiClientRecord,
    ApiError,
    Client,
    Conflict,
    Forbidden,
    InvalidRequest,
    NotFound,
    Notification,
    SubuserCreate,
    Unavailable,
    UnexpectedResponse,
    Violation,
)
from nimbill_client.credentials import Credentials
from tests.nimbill_client.prepared_service import PASSWORD, SECRET, URL, PreparedService, problem

NEW_USER = SubuserCreate(
    username="ann", password=PASSWORD, notification=Notification(email="false")
)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, InvalidRequest),
        (403, Forbidden),
        (404, NotFound),
        (409, Conflict),
        (413, InvalidRequest),
        (415, InvalidRequest),
        (418, ApiError),
        (500, Unavailable),
    ],
)
def test_each_status_has_its_own_error(status: int, kind: type[ApiError]) -> None:
    service = PreparedService(answers=[problem(status, "some_code", ("name", "required"))])

    with pytest.raises(ApiError) as caught:
        service.client().users.create(NEW_USER)

    error = caught.value
    assert type(error) is kind
    assert (error.status, error.code, error.title) == (status, "some_code", "A title")
    assert error.violations == [Violation(field="name", rule="required")]
    assert str(error) == f"POST /m/u/users: {status} some_code: A detail.\n  name: required"


def test_an_answer_of_a_proxy_is_an_error_with_its_status() -> None:
    service = PreparedService(answers=[httpx.Response(404, text="<html>nginx</html>")])

    with pytest.raises(NotFound, match="404") as caught:
        service.client().users.list_all()

    assert (caught.value.code, caught.value.title) == ("", "Not Found")


def test_a_redirect_is_not_followed() -> None:
    elsewhere = httpx.Response(302, headers={"Location": "https://other.example.com/"})
    service = PreparedService(answers=[elsewhere])

    with pytest.raises(ApiError, match="Check the url"):
        service.client().users.list_all()

    assert len(service.requests) == 1


def test_a_response_of_another_version_is_named() -> None:
    service = PreparedService(answers=[httpx.Response(200, json={"users": []})])

    with pytest.raises(UnexpectedResponse, match=r"GET /m/u/users: .*the versions"):
        service.client().users.list_all()


def test_fields_of_a_newer_service_are_ignored() -> None:
    answer = {"namespace": "core", "permissions": ["ReadCost"], "added": 1}
    service = PreparedService(answers=[httpx.Response(200, json=[answer])])

    (listed,) = service.client().roles.list_permissions()

    assert listed.permissions == ["ReadCost"]


def test_no_representation_contains_a_secret() -> None:
    api_client = ApiClientRecord(
        client_id="cli-1",
        client_secret=SECRET,
        grant_type="client_credentials",
        create_time="",
        user_id="usr-1",
        name="nightly",
    )
    credentials = Credentials("cli-1", SECRET, "ann", PASSWORD)
    client = PreparedService().client(username="ann", password=PASSWORD)

    shown = repr([api_client, NEW_USER, credentials, client, client._connection])

    assert "cli-1" in shown
    assert SECRET not in shown
    assert PASSWORD not in shown
    assert repr(client) == f"Client('{URL}')"


@pytest.mark.parametrize("answer", [problem(400, "weak_password"), httpx.ConnectError("refused")])
def test_no_traceback_contains_a_secret(answer: httpx.Response | Exception) -> None:
    service = PreparedService(answers=[answer] * 50)

    with pytest.raises(Exception, match="users") as caught:
        service.client().users.create(NEW_USER)

    text = "".join(traceback.format_exception(caught.value))
    assert PASSWORD not in text
    assert SECRET not in text
    assert "token-1" not in text


@pytest.mark.parametrize(
    "url",
    ["billing.example.com", "ftp://billing.example.com", "https://ann:secret@billing.example.com"],
)
def test_an_address_that_cannot_be_used_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="The url must") as caught:
        Client(url, client_id="cli-1", client_secret=SECRET)

    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "given", [{"client_secret": ""}, {"username": "ann"}, {"password": PASSWORD}]
)
def test_incomplete_credentials_are_refused(given: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="Give client_id and client_secret"):
        PreparedService().client(**given)


def test_the_environment_must_name_the_service_and_the_credentials() -> None:
    with pytest.raises(ValueError, match="NIMBILL_CLIENT_ID, NIMBILL_CLIENT_SECRET"):
        Client.from_environment({"NIMBILL_URL": URL})
