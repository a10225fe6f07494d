"""Passwords and client secrets leave the service once or never, and are stored nowhere in clear."""

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
from tests.contract.behind_the_walls import Superuser, behind_the_walls
from tests.identity.login.asking import as_user, ask
from tests.identity.users.clients import created_client, delete_client
from tests.identity.users.subusers import USERS, create, listed
from tests.running_service import Service

FIRST, SECOND, WRONG = "kanarienvogel 1", "kanarienvogel 2", "kanarienvogel 3"


@pytest.fixture
def logs(monkeypatch: pytest.MonkeyPatch) -> Iterator[StringIO]:
    before, written = structlog.get_config(), StringIO()
    monkeypatch.setattr(sys, "stderr", written)
    configure_logs()
    yield written
    structlog.configure(**before)


@pytest.fixture
def behind(service: Service, superuser: Address) -> Iterator[Superuser]:
    with behind_the_walls(service, superuser) as found:
        yield found


def stored(behind: Superuser, service: Service) -> str:
    return repr(behind.rows(service.organisation.organisation_id))


def audited(service: Service) -> str:
    return service.http.get("/m/core/audit", headers=service.root()).text


def test_a_password_is_in_no_answer_audit_row_log_line_or_table(
    service: Service, behind: Superuser, logs: StringIO
) -> None:
    keyed = {**service.root(), "Idempotency-Key": "one"}
    made = create(service, keyed, password=FIRST)
    user_id = made.json()["user_id"]
    answers = [
        made,
        create(service, keyed, password=FIRST),  # kept and answered again
        create(service, password=FIRST),  # the name is taken
        create(service, username="another", password=WRONG + " and longer"),
        create(service, username="another", password=[WRONG]),
        service.http.put(
            f"{USERS}/{user_id}/password", json={"password": SECOND}, headers=service.root()
        ),
        service.http.put(
            f"{USERS}/{service.organisation.root_user_id}/password",
            json={"password": SECOND, "old_password": WRONG},
            headers=service.root(),
        ),
        ask(service, as_user(service.organisation, "hanako.s", SECOND)),
        ask(service, as_user(service.organisation, "hanako.s", WRONG)),
    ]

    assert [one.status_code for one in answers] == [200, 200, 409, 400, 400, 200, 400, 200, 400]
    for place in (
        *(one.text + repr(one.headers) for one in answers),
        repr(listed(service)),
        audited(service),
        logs.getvalue(),
        stored(behind, service),
    ):
        assert "kanarienvogel" not in place
    assert user_id in logs.getvalue() + audited(service)


def test_a_client_secret_is_in_the_answer_to_its_creation_alone(
    service: Service, behind: Superuser, logs: StringIO
) -> None:
    client = created_client(service, "root")
    secret = client["client_secret"]
    answers = [
        ask(service, {"grant_type": "client_credentials", **pair})
        for pair in (
            {"client_id": client["client_id"], "client_secret": secret},
            {"client_id": "cl_unknown", "client_secret": secret},
        )
    ]
    answers.append(service.http.get(f"{USERS}/clients/root", headers=service.root()))
    answers.append(delete_client(service, "root", client["client_id"]))

    for place in (
        *(one.text + repr(one.headers) for one in answers),
        audited(service),
        logs.getvalue(),
        stored(behind, service),
    ):
        assert secret not in place
        assert secret.removeprefix("nb_cs_")[:20] not in place


def test_an_error_of_the_database_does_not_tell_what_was_sent(service: Service) -> None:
    """It ends in the log, with the statement and without its values."""

    async def fail() -> None:
        async with service.resources.engine.connect() as db:
            await db.execute(
                sa.text("SELECT 1 / length(:zero), :secret"), {"zero": "", "secret": FIRST}
            )

    with pytest.raises(DBAPIError) as failed:
        service.run(fail)

    assert "SELECT" in str(failed.value)
    assert FIRST not in str(failed.value)
