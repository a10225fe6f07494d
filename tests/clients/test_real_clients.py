"""Clients people really use reach a real server: curl, requests, and two OAuth libraries."""

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

from tests.command_line import PASSWORD, environment, init
from tests.customers.billing_groups.bodies import REQUIRED_FIELDS, SOUND_SETTING
from tests.proof.real_server import ROOT, RealServer, real_server

SECONDS_MAX = 30


def new_group() -> dict[str, Any]:
    named = {"billinggroup_id": f"BG-{secrets.token_hex(4)}"}
    return REQUIRED_FIELDS | named | {"invoices": {"aws": SOUND_SETTING}, "language": "ja"}


@dataclass(frozen=True)
class Account:
    """An organisation on the server, and where its calls go."""

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
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealServer]:
    data = tmp_path_factory.mktemp("clients") / "data"
    with real_server(data, environment(data), workers=1) as server:
        yield server


@pytest.fixture(scope="module")
def account(server: RealServer) -> Account:
    made = init(server.environment, "Clients")
    return Account(server, made["client_id"], made["client_secret"], made["username"])


def curl(*words: str) -> Any:
    program = shutil.which("curl")
    assert program is not None, "curl is needed to test with"
    line = [program, "--silent", "--show-error", "--fail-with-body", "--noproxy", "*", *words]
    done = subprocess.run(line, capture_output=True, timeout=SECONDS_MAX, check=False)
    assert done.returncode == 0, (done.stdout, done.stderr)
    return json.loads(done.stdout)


def assert_holds(answered: Any, group: dict[str, Any]) -> None:
    (found,) = [one for one in answered if one["billinggroup_id"] == group["billinggroup_id"]]
    assert found["name"] == group["company_name"]
    assert found["invoices"]["aws"] == SOUND_SETTING


@pytest.mark.parametrize("form", ["-F", "-d"])
def test_curl_with_a_password(account: Account, form: str) -> None:
    fields = {
        "grant_type": "password",
        "client_id": account.client_id,
        "client_secret": account.client_secret,
        "username": account.username,
        "password": PASSWORD,
        "scope": "openid",
    }
    given = [word for name, value in fields.items() for word in (form, f"{name}={value}")]
    token = curl(account.token_url, *given)
    group = new_group()
    bearer = ("-H", f"Authorization: Bearer {token['access_token']}")
    body = ("-H", "Content-Type: application/json", "-d", json.dumps(group))

    created = curl(account.groups_url, *bearer, *body)

    assert token["token_type"] == "Bearer"
    assert created["status"] == "success"
    assert_holds(curl(account.groups_url, *bearer), group)


def test_curl_with_the_clients_own_name_and_secret(account: Account) -> None:
    given = ("-u", f"{account.client_id}:{account.client_secret}")
    token = curl(account.token_url, *given, "-F", "grant_type=client_credentials")

    answered = curl(account.groups_url, "--oauth2-bearer", token["access_token"])

    assert isinstance(answered, list)


def test_the_five_lines_of_the_readme(account: Account) -> None:
    readme = (ROOT / "README.md").read_text()
    (lines,) = re.findall(r"```bash\n(API=.*?)```", readme, re.DOTALL)
    client = {"CLIENT_ID": account.client_id, "CLIENT_SECRET": account.client_secret}

    done = subprocess.run(
        ["bash", "-e"],
        input=lines.replace("http://127.0.0.1:8080", account.server.url),
        env={**os.environ, **client},
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        check=True,
    )

    assert len(lines.splitlines()) == 5
    assert '"status":"success"' in done.stdout
    assert '"name":"Matsukaze Tea"' in done.stdout


def test_requests_with_a_multipart_form(account: Account) -> None:
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
    assert_holds(listed.json(), group)


@pytest.mark.parametrize("way", ["client_secret_basic", "client_secret_post"])
def test_an_oauth_library_with_either_way_of_sending_the_secret(account: Account, way: str) -> None:
    group = new_group()
    with OAuth2Session(
        account.client_id, account.client_secret, token_endpoint_auth_method=way
    ) as session:
        session.trust_env = False
        token = session.fetch_token(account.token_url, grant_type="client_credentials")

        created = session.post(account.groups_url, json=group, timeout=SECONDS_MAX)
        listed = session.get(account.groups_url, timeout=SECONDS_MAX)

    assert token["expires_in"] == 86_400
    assert created.status_code == 200
    assert_holds(listed.json(), group)


def test_an_oauth_library_is_told_in_its_own_words_what_is_wrong(account: Account) -> None:
    with OAuth2Session(account.client_id, "not the secret") as session:
        session.trust_env = False
        with pytest.raises(Exception, match="invalid_client"):
            session.fetch_token(account.token_url, grant_type="client_credentials")


# ── both grants, both products, and refreshing, by the libraries people write scripts with ────────


def test_an_oauth_library_logs_a_user_in_and_refreshes(account: Account) -> None:
    with OAuth2Session(account.client_id, account.client_secret, scope="openid") as session:
        session.trust_env = False
        first = session.fetch_token(account.token_url, username=account.username, password=PASSWORD)
        second = session.refresh_token(account.token_url, refresh_token=first["refresh_token"])

        listed = session.get(account.groups_url, timeout=SECONDS_MAX)

    assert session.token["access_token"] == second["access_token"] != first["access_token"]
    assert second["refresh_token"] != first["refresh_token"]
    assert listed.status_code == 200


def test_an_oauth_library_refreshes_by_itself_when_the_token_is_old(account: Account) -> None:
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
def plain_http_is_fine(monkeypatch: pytest.MonkeyPatch) -> None:
    """requests-oauthlib wants https; the server of this test is on this machine."""
    monkeypatch.setenv("OAUTHLIB_INSECURE_TRANSPORT", "1")


@pytest.mark.usefixtures("plain_http_is_fine")
@pytest.mark.parametrize("in_body", [True, False])
@pytest.mark.parametrize("path", ["/core/access_token", "/access_token"])
def test_requests_oauthlib_with_the_clients_own_secret(
    account: Account, path: str, *, in_body: bool
) -> None:
    session = OAuthlibSession(client=BackendApplicationClient(account.client_id, scope="openid"))
    session.trust_env = False
    way: dict[str, Any] = (
        {"include_client_id": True, "client_secret": account.client_secret}
        if in_body
        else {"auth": (account.client_id, account.client_secret)}
    )

    token = session.fetch_token(account.server.url + path, timeout=SECONDS_MAX, **way)

    asked = session.get(f"{account.server.url}/m/auth/rbac/userroles", timeout=SECONDS_MAX)
    assert token["token_type"] == "Bearer"
    assert asked.status_code == 200


@pytest.mark.usefixtures("plain_http_is_fine")
@pytest.mark.parametrize("path", ["/core/access_token", "/access_token"])
def test_requests_oauthlib_logs_a_user_in_and_refreshes(account: Account, path: str) -> None:
    client = LegacyApplicationClient(account.client_id, scope="openid")
    session = OAuthlibSession(client=client)
    session.trust_env = False
    url = account.server.url + path
    named = {"client_id": account.client_id, "client_secret": account.client_secret}

    first = session.fetch_token(
        url, username=account.username, password=PASSWORD, timeout=SECONDS_MAX, **named
    )
    second = session.refresh_token(url, timeout=SECONDS_MAX, **named)

    assert second["refresh_token"] != first["refresh_token"]
    asked = session.get(f"{account.server.url}/m/auth/rbac/userroles", timeout=SECONDS_MAX)
    assert asked.status_code == 200


@pytest.mark.usefixtures("plain_http_is_fine")
def test_requests_oauthlib_is_told_in_its_own_words_what_is_wrong(account: Account) -> None:
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


def test_curl_sends_every_field_as_a_file(account: Account) -> None:
    fields = {
        "grant_type": "client_credentials",
        "client_id": account.client_id,
        "client_secret": account.client_secret,
    }
    given = [w for name, v in fields.items() for w in ("-F", f"{name}={v};filename={name}.txt")]

    assert curl(account.token_url, *given)["token_type"] == "Bearer"


@pytest.mark.parametrize("grant", ["client_credentials", "password"])
def test_curl_asks_the_legacy_endpoint_as_specified(account: Account, grant: str) -> None:
    body = {
        "grant_type": grant,
        "client_id": account.client_id,
        "client_secret": account.client_secret,
    }

    told = curl(
        f"{account.server.url}/v3/access_token",
        *("-H", "Content-Type: application/json;", "-d", json.dumps(body)),
    )

    assert sorted(told) == ["access_token", "expires_in", "token_type"]
