"""Deletion of expired tokens and login sources."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa
import time_machine

from nimbill.access.login_failures import known_login_sources
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


def delete_expired(service: Service, **later: float) -> dict[str, int]:
    """Run the hourly deletion this much later and return the number of remaining rows."""
    resources, scope = service.resources, TenantScope(service.organisation.organisation_id)
    (job_type,) = (
        each
        for each in maintenance_job_types(service.settings, resources.encryptor)
        if each.name == DELETE_EXPIRED_LOGINS
    )

    async def run() -> dict[str, int]:
        async with transaction(resources.engine, scope.organisation_id) as db:
            await job_type.run(db, Job(scope, "wrk_x", DELETE_EXPIRED_LOGINS, "", {}, {}, 1))
            tables = (records.token_families, records.refresh_tokens, known_login_sources)
            return {
                table.name: (
                    await db.execute(sa.select(sa.func.count()).select_from(table))
                ).scalar_one()
                for table in tables
            }

    with time_machine.travel(datetime.now(UTC) + timedelta(**later), tick=False):
        return service.run(run)


def test_a_family_in_use_is_kept(service: Service) -> None:
    organisation = service.organisation
    token = issue_tokens(service, client_form(organisation))["refresh_token"]

    assert delete_expired(service, hours=11)["token_families"] == 1

    assert issue_tokens(service, refresh_form(organisation, token))


def test_a_refresh_extends_the_life_of_a_family(service: Service) -> None:
    organisation = service.organisation
    token = issue_tokens(service, client_form(organisation))["refresh_token"]
    with time_machine.travel(datetime.now(UTC) + timedelta(hours=11), tick=False):
        issue_tokens(service, refresh_form(organisation, token))

    assert delete_expired(service, hours=22)["token_families"] == 1
    assert delete_expired(service, hours=24) == {
        "token_families": 0,
        "refresh_tokens": 0,
        "known_login_sources": 0,
    }


def test_a_family_that_cannot_be_refreshed_is_deleted_but_its_access_token_stays_valid(
    service: Service,
) -> None:
    tokens = issue_tokens(service, client_form(service.organisation))

    assert delete_expired(service, hours=12.1)["token_families"] == 0

    assert is_token_valid(service, tokens["access_token"])
    response = request_token(service, refresh_form(service.organisation, tokens["refresh_token"]))
    assert response.json()["error"] == "invalid_grant"


def test_a_console_session_is_kept_as_long_as_its_access_token_can_be_valid(
    service: Service,
) -> None:
    token = sign_in_for_token(service)

    assert delete_expired(service, hours=30)["token_families"] == 1
    assert is_token_valid(service, token)
    assert refresh_session(service).status_code == 200
    assert delete_expired(service, days=9, minutes=1)["token_families"] == 0
    assert not is_token_valid(service, token)


@pytest.mark.parametrize(("days", "kept"), [(364, 1), (366, 0)])
def test_a_login_source_is_kept_for_a_year(service: Service, days: int, kept: int) -> None:
    issue_tokens(service, password_form(service.organisation, "root"))

    assert delete_expired(service, days=days)["known_login_sources"] == kept
