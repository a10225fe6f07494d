"""What logging in leaves behind, and when it is forgotten."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa
import time_machine

from nimbill.application.maintenance import maintenance_job_types
from nimbill.database.tenant_scope import TenantScope, transaction
from nimbill.identity.login import records
from nimbill.jobs.recurring import DELETE_EXPIRED_LOGINS
from nimbill.jobs.runner import Job
from tests.identity.login.console_sessions import refresh_session, sign_in_for_token
from tests.identity.login.token_requests import (
    client_form,
    is_token_valid,
    issue_tokens,
    password_form,
    refresh_form,
    request_token,
)
from tests.running_service import Service


def forget(service: Service, **later: float) -> dict[str, int]:
    """What is left when the hourly forgetting runs this much later."""
    resources, scope = service.resources, TenantScope(service.organisation.organisation_id)
    (kind,) = (
        kind
        for kind in maintenance_job_types(service.settings, resources.encryptor)
        if kind.name == DELETE_EXPIRED_LOGINS
    )

    async def run() -> dict[str, int]:
        async with transaction(resources.engine, scope.organisation_id) as db:
            await kind.run(db, Job(scope, "wrk_x", DELETE_EXPIRED_LOGINS, "", {}, {}, 1))
            tables = (records.token_families, records.refresh_tokens, records.known_login_sources)
            return {
                table.name: (
                    await db.execute(sa.select(sa.func.count()).select_from(table))
                ).scalar_one()
                for table in tables
            }

    with time_machine.travel(datetime.now(UTC) + timedelta(**later), tick=False):
        return service.run(run)


def test_a_family_in_use_is_kept(service: Service) -> None:
    who = service.organisation
    token = issue_tokens(service, client_form(who))["refresh_token"]

    assert forget(service, hours=11)["token_families"] == 1

    assert issue_tokens(service, refresh_form(who, token))


def test_a_family_that_was_refreshed_is_kept_from_then_on(service: Service) -> None:
    who = service.organisation
    token = issue_tokens(service, client_form(who))["refresh_token"]
    with time_machine.travel(datetime.now(UTC) + timedelta(hours=11), tick=False):
        issue_tokens(service, refresh_form(who, token))

    assert forget(service, hours=22)["token_families"] == 1
    assert forget(service, hours=24) == {
        "token_families": 0,
        "refresh_tokens": 0,
        "known_login_sources": 0,
    }


def test_a_family_that_nobody_can_refresh_is_forgotten_and_its_access_token_lives_on(
    service: Service,
) -> None:
    told = issue_tokens(service, client_form(service.organisation))

    assert forget(service, hours=12.1)["token_families"] == 0

    assert is_token_valid(service, told["access_token"])
    answer = request_token(service, refresh_form(service.organisation, told["refresh_token"]))
    assert answer.json()["error"] == "invalid_grant"


def test_a_consoles_session_is_kept_as_long_as_its_access_token_may_live(service: Service) -> None:
    token = sign_in_for_token(service)

    assert forget(service, hours=30)["token_families"] == 1
    assert is_token_valid(service, token)
    assert refresh_session(service).status_code == 200
    assert forget(service, days=9, minutes=1)["token_families"] == 0
    assert not is_token_valid(service, token)


@pytest.mark.parametrize(("days", "kept"), [(364, 1), (366, 0)])
def test_where_somebody_logged_in_is_remembered_for_a_year(
    service: Service, days: int, kept: int
) -> None:
    issue_tokens(service, password_form(service.organisation, "root"))

    assert forget(service, days=days)["known_login_sources"] == kept
