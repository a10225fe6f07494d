"""Passwords and client secrets are not in responses, audit rows, logs and tables."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from io import StringIO

import pytest
import sqlalchemy as sa
import structlog
from sqlalchemy.exc import DBAPIError

from nimbill.database.embedded_postgres import Address
from nimbill.foundation.logs import configure_logs
from tests.contract.superuser import Superuser, connect_superuser
from tests.identity.login.token_requests import password_form, request_token
from tests.identity.users.client_requests import add_client, delete_client
from tests.identity.users.user_requests import USERS, list_subusers, post_subuser
from tests.running_service import Service

FIRST, SECOND, WRONG = "canary-password 1", "canary-password 2", "canary-password 3"


@pytest.fixture
def logs(monkeypatch: pytest.MonkeyPatch) -> Iterator[StringIO]:
    """Everything that is logged during the test."""
    configuration, output = structlog.get_config(), StringIO()
    monkeypatch.setattr(sys, "stderr", output)
    configure_logs()
    yield output
    structlog.configure(**configuration)


@pytest.fixture
def database(service: Service, superuser: Address) -> Iterator[Superuser]:
    """A connection that sees the rows of every table."""
    with connect_superuser(service, superuser) as connection:
        yield connection


def read_tables(database: Superuser, service: Service) -> str:
    return repr(database.list_rows(service.organisation.organisation_id))


def read_audit_log(service: Service) -> str:
    return service.http.get("/m/core/audit", headers=service.root()).text


def test_a_password_is_in_no_response_audit_row_log_line_or_table(
    service: Service, database: Superuser, logs: StringIO
) -> None:
    with_key = {**service.root(), "Idempotency-Key": "one"}
    created = post_subuser(service, with_key, password=FIRST)
    user_id = created.json()["user_id"]
    responses = [
        created,
        post_subuser(service, with_key, password=FIRST),  # the stored response
        post_subuser(service, password=FIRST),  # a duplicate username
        post_subuser(service, username="another", password=WRONG + " and longer"),
        post_subuser(service, username="another", password=[WRONG]),
        service.http.put(
            f"{USERS}/{user_id}/password", json={"password": SECOND}, headers=service.root()
        ),
        service.http.put(
            f"{USERS}/{service.organisation.root_user_id}/password",
            json={"password": SECOND, "old_password": WRONG},
            headers=service.root(),
        ),
        request_token(service, password_form(service.organisation, "hanako.s", SECOND)),
        request_token(service, password_form(service.organisation, "hanako.s", WRONG)),
    ]

    assert [each.status_code for each in responses] == [200, 200, 409, 400, 400, 200, 400, 200, 400]
    for output in (
        *(each.text + repr(each.headers) for each in responses),
        repr(list_subusers(service)),
        read_audit_log(service),
        logs.getvalue(),
        read_tables(database, service),
    ):
        assert "canary-password" not in output
    assert user_id in logs.getvalue() + read_audit_log(service)


def test_a_client_secret_is_only_in_the_response_that_creates_it(
    service: Service, database: Superuser, logs: StringIO
) -> None:
    client = add_client(service, "root")
    secret = client["client_secret"]
    responses = [
        request_token(service, {"grant_type": "client_credentials", **pair})
        for pair in (
            {"client_id": client["client_id"], "client_secret": secret},
            {"client_id": "cl_unknown", "client_secret": secret},
        )
    ]
    responses.append(service.http.get(f"{USERS}/clients/root", headers=service.root()))
    responses.append(delete_client(service, "root", client["client_id"]))

    for output in (
        *(each.text + repr(each.headers) for each in responses),
        read_audit_log(service),
        logs.getvalue(),
        read_tables(database, service),
    ):
        assert secret not in output
        assert secret.removeprefix("nb_cs_")[:20] not in output


def test_a_database_error_does_not_contain_parameters(service: Service) -> None:
    """The error is logged with the statement, so its values must be missing."""

    async def fail() -> None:
        async with service.resources.engine.connect() as db:
            await db.execute(
                sa.text("SELECT 1 / length(:zero), :secret"), {"zero": "", "secret": FIRST}
            )

    with pytest.raises(DBAPIError) as failed:
        service.run(fail)

    assert "SELECT" in str(failed.value)
    assert FIRST not in str(failed.value)
