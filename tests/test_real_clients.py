"""Clients people really use reach a real server: curl, requests, and an OAuth library."""

from __future__ import annotations

import json
import secrets
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import requests
from authlib.integrations.requests_client import OAuth2Session

from tests.billing_groups.bodies import REQUIRED_FIELDS, SOUND_SETTING
from tests.command_line import PASSWORD, environment, init
from tests.proof.real_server import RealServer, real_server

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
    with real_server(data, workers=1, **environment(data)) as server:
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
