"""A view ends after a time, by request, and with what it depends on."""

from __future__ import annotations

from datetime import timedelta

import sqlalchemy as sa
import time_machine

from nimbill.application.maintenance import maintenance_job_types
from nimbill.database.tenant_scope import TenantScope, transaction
from nimbill.foundation import clock
from nimbill.foundation.product import Product
from nimbill.jobs.recurring import DELETE_EXPIRED_LOGINS
from nimbill.jobs.runner import Job
from nimbill.portal.staff_views.records import portal_views
from tests.customers.billing_groups.billing_groups import create_billing_group
from tests.customers.resellers.reseller_accounts import (
    CUSTOM_PASSWORD,
    Reseller,
)
from tests.identity.login.console_sessions import sign_in_for_token
from tests.identity.login.token_requests import bearer_headers, decode_claims
from tests.portal.staff_views.view_requests import (
    ME,
    begin_view,
    end,
    is_open,
    view_headers,
)
from tests.problem_responses import read_problem
from tests.running_service import Service
from tests.subusers import create_subuser


def test_a_view_ends_after_fifteen_minutes(
    service: Service, company: str, reseller: Reseller
) -> None:
    now = clock.now().replace(microsecond=0)
    with time_machine.travel(now, tick=False) as time:
        view = begin_view(service, company)
        time.move_to(now + timedelta(minutes=14, seconds=59))
        before = is_open(service, view)
        time.move_to(now + timedelta(minutes=15))
        after = is_open(service, view)

    assert view["expires_in"] == 900
    assert (before, after) == (True, False)


def test_a_view_can_be_ended_with_its_own_token(
    service: Service, company: str, reseller: Reseller
) -> None:
    view, other = begin_view(service, company), begin_view(service, company)

    ended = end(service, view, view_headers(view))

    assert ended.status_code == 200
    assert not is_open(service, view)
    assert is_open(service, other)
    assert service.http.get(ME, headers=reseller.portal).status_code == 200


def test_nobody_else_ends_a_view(service: Service, company: str, reseller: Reseller) -> None:
    view = begin_view(service, company)
    colleague = create_subuser(service, core=["Admin"], portal=["Admin"])

    for headers in (reseller.portal, colleague.portal):
        assert end(service, view, headers).status_code == 404

    assert is_open(service, view)


def test_a_view_ends_when_the_member_of_staff_loses_the_permission(
    service: Service, company: str, reseller: Reseller
) -> None:
    clerk = create_subuser(service, core=["ModifyReseller"])
    view = begin_view(service, company, clerk.core)

    taken: dict[str, list[str]] = {"roles": [], "filters": []}
    path = f"/m/auth/rbac/{clerk.user_id}/userroles"
    assert service.http.patch(path, json=taken, headers=service.root()).is_success

    assert not is_open(service, view)


def test_a_view_ends_when_the_member_of_staff_no_longer_sees_the_customer(
    service: Service, company: str, reseller: Reseller
) -> None:
    other = create_billing_group(service, service.root(), billinggroup_id="BG-2")
    clerk = create_subuser(service, core=["ModifyReseller"])
    view = begin_view(service, company, clerk.core)
    narrowed = {
        "roles": [{"namespace": "core", "role": f"role-{clerk.user_id[-12:]}"}],
        "filters": [{"namespace": "core", "type": "billingGroup", "resource": [other]}],
    }
    path = f"/m/auth/rbac/{clerk.user_id}/userroles"
    response = service.http.patch(path, json=narrowed, headers=service.root())

    assert response.is_success, response.text
    assert not is_open(service, view)


def test_a_view_ends_when_the_member_of_staff_is_deleted(
    service: Service, company: str, reseller: Reseller
) -> None:
    clerk = create_subuser(service, core=["ModifyReseller"])
    view = begin_view(service, company, clerk.core)

    deleted = service.http.delete(f"/m/u/users/{clerk.user_id}", headers=service.root())

    assert deleted.is_success, deleted.text
    assert not is_open(service, view)


def test_a_view_ends_when_the_session_it_began_from_ends(
    service: Service, company: str, reseller: Reseller
) -> None:
    session = bearer_headers(sign_in_for_token(service))
    of_session = begin_view(service, company, session)
    of_client = begin_view(service, company)

    assert service.http.delete("/core/session", headers=session).is_success

    assert not is_open(service, of_session)
    assert is_open(service, of_client)


def test_a_view_ends_when_the_password_of_the_member_of_staff_changes(
    service: Service, company: str, reseller: Reseller
) -> None:
    clerk = create_subuser(service, core=["ModifyReseller"])
    view = begin_view(service, company, clerk.core)

    path = f"/m/u/users/{clerk.user_id}/password"
    body = {"password": CUSTOM_PASSWORD}
    changed = service.http.put(path, json=body, headers=service.root())

    assert changed.is_success, changed.text
    assert not is_open(service, view)


def test_a_view_ends_with_the_account_that_it_shows(
    service: Service, company: str, reseller: Reseller
) -> None:
    view = begin_view(service, company)

    deleted = service.http.delete(f"/m/core/reseller/{reseller.user_id}", headers=service.root())

    assert deleted.is_success, deleted.text
    assert not is_open(service, view)


def test_the_token_of_a_view_is_refused_for_another_user_and_organisation(
    service: Service, company: str, reseller: Reseller
) -> None:
    claims = decode_claims(begin_view(service, company)["access_token"])
    other = service.new_organisation("Other", username="other-root")
    colleague = create_subuser(service, core=["Admin"])

    for organisation_id, user_id in (
        (service.organisation.organisation_id, colleague.user_id),
        (other.organisation_id, other.root_user_id),
    ):
        token, _ = service.resources.tokens.issue(
            Product.portal,
            organisation_id=organisation_id,
            user_id=user_id,
            client_id=claims["client_id"],
            epoch=claims["ep"],
            subject_type="view",
        )
        response = service.http.get(ME, headers=bearer_headers(token))
        assert read_problem(response, 401)["code"] == "token_invalid"


def test_expired_views_are_deleted(service: Service, company: str, reseller: Reseller) -> None:
    now = clock.now()
    with time_machine.travel(now - timedelta(minutes=16), tick=False):
        begin_view(service, company)
    current = begin_view(service, company)

    kept = service.run(lambda: delete_expired(service))

    assert kept == [current["view_id"]]


async def delete_expired(service: Service) -> list[str]:
    scope = TenantScope(service.organisation.organisation_id)
    job_types = maintenance_job_types(service.settings, service.resources.encryptor)
    (job_type,) = [each for each in job_types if each.name == DELETE_EXPIRED_LOGINS]
    async with transaction(service.resources.engine, scope.organisation_id) as db:
        await job_type.run(db, Job(scope, "wrk_x", DELETE_EXPIRED_LOGINS, "", {}, {}, 1))
        stmt = sa.select(portal_views.c.view_id)
        return list((await db.execute(stmt)).scalars())
