"""Common HTTP clients against a real server: curl, requests and two OAuth libraries."""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import requests
from authlib.integrations.requests_client import OAuth2Session
from oauthlib.oauth2 import BackendApplicationClient, InvalidGrantError, LegacyApplicationClient
from requests_oauthlib import OAuth2Session as OAuthlibSession

from nimbill.database.embedded_postgres import Address
from tests.command_line import PASSWORD, build_environment, init_organisation
from tests.customers.billing_groups.sample_bodies import REQUIRED_FIELDS, VALID_SETTING
from tests.proof.real_server import ROOT, RealServer, real_server
from tests.temporary_database import temporary_database

SECONDS_MAX = 60


def new_group() -> dict[str, Any]:
    group_id = {"billinggroup_id": f"BG-{secrets.token_hex(4)}"}
    return REQUIRED_FIELDS | group_id | {"invoices": {"aws": VALID_SETTING}, "language": "ja"}


@dataclass(frozen=True)
class ServerAccount:
    """The credentials of an organisation on the server, and the URLs to call."""

    server: RealServer
    client_id: str
    client_secret: str
    username: str

    @property
    def token_url(self) -> str:
        return f"{self.server.url}/core/access_token"

    @property
    def groups_url(self) -> str:
        return f"{self.server.url}/m/core/billinggroup"


@pytest.fixture(scope="module")
def server(
    postgres: Address, superuser: Address, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RealServer]:
    """A server in its own processes, because the clients need a real port; takes over 5 s."""
    data = tmp_path_factory.mktemp("clients") / "data"
    with (
        temporary_database(postgres, superuser) as address,
        real_server(
            data, build_environment(data, NIMBILL_DATABASE_URL=address.url), workers=1
        ) as server,
    ):
        yield server


@pytest.fixture(scope="module")
def account(server: RealServer) -> ServerAccount:
    organisation = init_organisation(server.environment, "Clients")
    return ServerAccount(
        server, organisation["client_id"], organisation["client_secret"], organisation["username"]
    )


def curl(*arguments: str) -> Any:
    program = shutil.which("curl")
    assert program is not None, "curl is needed to test with"
    command = [
        program,
        "--silent",
        "--show-error",
        "--fail-with-body",
        "--noproxy",
        "*",
        *arguments,
    ]
    result = subprocess.run(command, capture_output=True, timeout=SECONDS_MAX, check=False)
    assert result.returncode == 0, (result.stdout, result.stderr)
    return json.loads(result.stdout)


def assert_contains(records: Any, group: dict[str, Any]) -> None:
    (record,) = [
        record for record in records if record["billinggroup_id"] == group["billinggroup_id"]
    ]
    assert record["name"] == group["company_name"]
    assert record["invoices"]["aws"] == VALID_SETTING


@pytest.mark.parametrize("form", ["-F", "-d"])
def test_curl_with_the_password_grant(account: ServerAccount, form: str) -> None:
    fields = {
        "grant_type": "password",
        "client_id": account.client_id,
        "client_secret": account.client_secret,
        "username": account.username,
        "password": PASSWORD,
        "scope": "openid",
    }
    arguments = [
        argument for name, value in fields.items() for argument in (form, f"{name}={value}")
    ]
    token = curl(account.token_url, *arguments)
    group = new_group()
    bearer = ("-H", f"Authorization: Bearer {token['access_token']}")
    body = ("-H", "Content-Type: application/json", "-d", json.dumps(group))

    created = curl(account.groups_url, *bearer, *body)

    assert token["token_type"] == "Bearer"
    assert created["status"] == "success"
    assert_contains(curl(account.groups_url, *bearer), group)


def test_curl_with_basic_authentication(account: ServerAccount) -> None:
    arguments = ("-u", f"{account.client_id}:{account.client_secret}")
    token = curl(account.token_url, *arguments, "-F", "grant_type=client_credentials")

    records = curl(account.groups_url, "--oauth2-bearer", token["access_token"])

    assert isinstance(records, list)


def test_the_example_in_the_tour(account: ServerAccount) -> None:
    tour = (ROOT / "docs" / "api-tour.md").read_text()
    (example,) = re.findall(r"```bash\n(API=.*?)```", tour, re.DOTALL)
    client = {"CLIENT_ID": account.client_id, "CLIENT_SECRET": account.client_secret}

    result = subprocess.run(
        ["bash", "-e"],
        input=example.replace("http://127.0.0.1:8080", account.server.url),
        env={**os.environ, **client},
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        check=True,
    )

    assert len(example.splitlines()) == 5
    assert '"status":"success"' in result.stdout
    assert '"name":"Matsukaze Tea"' in result.stdout


def test_requests_with_a_multipart_form(account: ServerAccount) -> None:
    fields = {
        "grant_type": (None, "client_credentials"),
        "client_id": (None, account.client_id),
        "client_secret": (None, account.client_secret),
    }
    group = new_group()
    with requests.Session() as session:
        session.trust_env = False
        token = session.post(account.token_url, files=fields, timeout=SECONDS_MAX).json()
        session.headers["Authorization"] = f"Bearer {token['access_token']}"

        created = session.post(account.groups_url, json=group, timeout=SECONDS_MAX)
        listed = session.get(account.groups_url, timeout=SECONDS_MAX)

    assert created.status_code == 200
    assert listed.headers["content-type"] == "application/json"
    assert_contains(listed.json(), group)


@pytest.mark.parametrize("auth_method", ["client_secret_basic", "client_secret_post"])
def test_authlib_with_both_ways_to_send_the_secret(
    account: ServerAccount, auth_method: str
) -> None:
    group = new_group()
    with OAuth2Session(
        account.client_id, account.client_secret, token_endpoint_auth_method=auth_method
    ) as session:
        session.trust_env = False
        token = session.fetch_token(account.token_url, grant_type="client_credentials")

        created = session.post(account.groups_url, json=group, timeout=SECONDS_MAX)
        listed = session.get(account.groups_url, timeout=SECONDS_MAX)

    assert token["expires_in"] == 86_400
    assert created.status_code == 200
    assert_contains(listed.json(), group)


def test_authlib_recognises_a_wrong_secret(account: ServerAccount) -> None:
    with OAuth2Session(account.client_id, "not the secret") as session:
        session.trust_env = False
        with pytest.raises(Exception, match="invalid_client"):
            session.fetch_token(account.token_url, grant_type="client_credentials")


# ── both grants, both products and refresh tokens ────────────────────────────────────────────────


def test_authlib_logs_a_user_in_and_refreshes(account: ServerAccount) -> None:
    with OAuth2Session(account.client_id, account.client_secret, scope="openid") as session:
        session.trust_env = False
        first = session.fetch_token(account.token_url, username=account.username, password=PASSWORD)
        second = session.refresh_token(account.token_url, refresh_token=first["refresh_token"])

        listed = session.get(account.groups_url, timeout=SECONDS_MAX)

    assert session.token["access_token"] == second["access_token"] != first["access_token"]
    assert second["refresh_token"] != first["refresh_token"]
    assert listed.status_code == 200


def test_authlib_refreshes_an_expired_token(account: ServerAccount) -> None:
    with OAuth2Session(
        account.client_id, account.client_secret, token_endpoint=account.token_url
    ) as session:
        session.trust_env = False
        first = session.fetch_token(account.token_url, username=account.username, password=PASSWORD)
        session.token = {**first, "expires_at": 1}

        listed = session.get(account.groups_url, timeout=SECONDS_MAX)

    assert session.token["access_token"] != first["access_token"]
    assert listed.status_code == 200


@pytest.fixture
def allow_plain_http(monkeypatch: pytest.MonkeyPatch) -> None:
    """requests-oauthlib requires https unless this is set; the server is on loopback."""
    monkeypatch.setenv("OAUTHLIB_INSECURE_TRANSPORT", "1")


@pytest.mark.usefixtures("allow_plain_http")
@pytest.mark.parametrize("in_body", [True, False])
@pytest.mark.parametrize("path", ["/core/access_token", "/access_token"])
def test_requests_oauthlib_with_client_credentials(
    account: ServerAccount, path: str, *, in_body: bool
) -> None:
    session = OAuthlibSession(client=BackendApplicationClient(account.client_id, scope="openid"))
    session.trust_env = False
    authentication: dict[str, Any] = (
        {"include_client_id": True, "client_secret": account.client_secret}
        if in_body
        else {"auth": (account.client_id, account.client_secret)}
    )

    token = session.fetch_token(account.server.url + path, timeout=SECONDS_MAX, **authentication)

    response = session.get(f"{account.server.url}/m/auth/rbac/userroles", timeout=SECONDS_MAX)
    assert token["token_type"] == "Bearer"
    assert response.status_code == 200


@pytest.mark.usefixtures("allow_plain_http")
@pytest.mark.parametrize("path", ["/core/access_token", "/access_token"])
def test_requests_oauthlib_logs_a_user_in_and_refreshes(account: ServerAccount, path: str) -> None:
    client = LegacyApplicationClient(account.client_id, scope="openid")
    session = OAuthlibSession(client=client)
    session.trust_env = False
    url = account.server.url + path
    client_fields = {"client_id": account.client_id, "client_secret": account.client_secret}

    first = session.fetch_token(
        url, username=account.username, password=PASSWORD, timeout=SECONDS_MAX, **client_fields
    )
    second = session.refresh_token(url, timeout=SECONDS_MAX, **client_fields)

    assert second["refresh_token"] != first["refresh_token"]
    response = session.get(f"{account.server.url}/m/auth/rbac/userroles", timeout=SECONDS_MAX)
    assert response.status_code == 200


@pytest.mark.usefixtures("allow_plain_http")
def test_requests_oauthlib_recognises_a_wrong_password(account: ServerAccount) -> None:
    session = OAuthlibSession(client=LegacyApplicationClient(account.client_id))
    session.trust_env = False

    with pytest.raises(InvalidGrantError):
        session.fetch_token(
            account.token_url,
            username=account.username,
            password="not the password",
            client_secret=account.client_secret,
            include_client_id=True,
            timeout=SECONDS_MAX,
        )


def test_curl_sends_every_field_as_a_file(account: ServerAccount) -> None:
    fields = {
        "grant_type": "client_credentials",
        "client_id": account.client_id,
        "client_secret": account.client_secret,
    }
    arguments = [
        argument
        for name, value in fields.items()
        for argument in ("-F", f"{name}={value};filename={name}.txt")
    ]

    assert curl(account.token_url, *arguments)["token_type"] == "Bearer"


@pytest.mark.parametrize("grant", ["client_credentials", "password"])  # version 3
def test_curl_requests_a_version_3_token(account: ServerAccount, grant: str) -> None:  # version 3
    body = {
        "grant_type": grant,
        "client_id": account.client_id,
        "client_secret": account.client_secret,
    }

    token = curl(
        f"{account.server.url}/v3/access_token",
        *("-H", "Content-Type: application/json;", "-d", json.dumps(body)),
    )

    assert sorted(token) == ["access_token", "expires_in", "token_type"]
