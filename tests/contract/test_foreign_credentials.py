"""Users and API clients of another organisation look unknown at the token endpoints."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from nimbill.database.embedded_postgres import Address
from tests.contract.route_requests import comparable_response, make_unknown_id
from tests.contract.superuser import Superuser, connect_superuser
from tests.contract.tenants import Tenant, new_tenant
from tests.running_service import PASSWORD, Service

OURS, THEIRS = "kanarif", "kanarig"


@pytest.fixture(scope="module")
def db(running: Service, superuser: Address) -> Iterator[Superuser]:
    with connect_superuser(running, superuser) as connection:
        yield connection


@pytest.fixture(scope="module")
def theirs(running: Service, db: Superuser) -> Tenant:
    return new_tenant(running, db, THEIRS)


@pytest.fixture(scope="module")
def ours(running: Service, db: Superuser) -> Tenant:
    return new_tenant(running, db, OURS)


def request_token(service: Service, **form: str) -> httpx.Response:
    return service.http.post("/core/access_token", data={"scope": "openid", **form})


def test_a_username_of_another_organisation_looks_unknown(ours: Tenant, theirs: Tenant) -> None:
    """Even with the right password, through an API client of ours."""
    client = {
        "grant_type": "password",
        "client_id": ours.organisation.client_id,
        "client_secret": ours.organisation.client_secret,
    }

    foreign = request_token(ours.service, **client, username=f"{THEIRS}-root", password=PASSWORD)
    unknown = request_token(ours.service, **client, username="kanarix-root", password=PASSWORD)
    own = request_token(ours.service, **client, username=f"{OURS}-root", password=PASSWORD)

    assert comparable_response(foreign) == comparable_response(unknown)
    assert foreign.status_code == 400
    assert own.is_success


def test_an_api_client_of_another_organisation_looks_unknown(ours: Tenant, theirs: Tenant) -> None:
    secret, foreign_id = ours.organisation.client_secret, theirs.organisation.client_id
    form = {"grant_type": "client_credentials", "client_secret": secret}

    foreign = request_token(ours.service, **form, client_id=foreign_id)
    unknown = request_token(ours.service, **form, client_id=make_unknown_id(foreign_id))

    assert comparable_response(foreign) == comparable_response(unknown)
    assert foreign.status_code == 401
