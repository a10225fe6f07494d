"""Users, roles, tokens and organisations are locked while a request decides about them.

Each test makes a change in a transaction that is still open, sends a request that must not decide
before the change is committed, and checks that the request took the change into account.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta

import pytest
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.application.organisations import delete_organisation
from nimbill.database.tenant_lookup import LookupKind, add_lookup, lock_name_assignment
from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation import clock
from nimbill.foundation.errors import Conflict
from nimbill.foundation.product import Product
from nimbill.identity.login import refresh_tokens
from nimbill.identity.rbac import records as roles
from nimbill.identity.users import records as users
from nimbill.jobs.records import add_job, claim_job
from tests.held_locks import InTransaction, call_while_locked
from tests.identity.login.token_requests import client_form, issue_tokens, refresh_form
from tests.identity.organisations.test_create_organisation import read_short_name
from tests.identity.rbac.role_requests import (
    delete_role,
    insert_roles,
    list_mappings,
    list_roles,
    map_roles,
    patch_role,
    replace_mappings,
    role_refs,
)
from tests.problem_responses import HttpResponse, read_problem
from tests.running_service import Service
from tests.subusers import SubuserAccount, create_subuser

ROLE = ("core", "in-use")
MANAGER = ["ModifyRoles", "ModifyUsers"]


def extend_role(service: Service) -> InTransaction:
    """Add Admin to the role in the transaction that holds its lock."""
    root_user = service.organisation.root_user_id

    async def extend(db: AsyncConnection, scope: TenantScope) -> None:
        await roles.update_role(db, scope, root_user, ROLE, name=ROLE[1], permissions=["Admin"])

    return extend


def map_in_transaction(service: Service, user_id: str, *names: str) -> InTransaction:
    root_user = service.organisation.root_user_id

    async def add_mappings(db: AsyncConnection, scope: TenantScope) -> None:
        await users.lock_user(db, scope, user_id)
        keys = [("core", name) for name in names]
        await roles.map_roles(db, scope, root_user=root_user, user_id=user_id, keys=keys)

    return add_mappings


# ── roles ────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def manager(service: Service) -> SubuserAccount:
    """A user who may change roles and users; the organisation also has the role `in-use`."""
    insert_roles(service, [ROLE[1]], [])
    return create_subuser(service, core=MANAGER)


@pytest.mark.parametrize("operation", ["update", "delete"])
def test_a_role_that_is_being_extended_can_be_neither_changed_nor_deleted(
    service: Service, manager: SubuserAccount, operation: str
) -> None:
    calls: dict[str, Callable[[], HttpResponse]] = {
        "update": lambda: patch_role(service, ROLE[1], manager.core, permissions=["ModifyRoles"]),
        "delete": lambda: delete_role(service, ROLE[1], manager.core),
    }

    outcome = call_while_locked(service, extend_role(service), calls[operation])

    assert outcome.waited
    assert read_problem(outcome.result, 403)["code"] == "role_above"
    permissions = {(role["namespace"], role["name"]): role for role in list_roles(service)}
    assert permissions[ROLE]["permissions"] == ["Admin"]


@pytest.mark.parametrize("change", [map_roles, replace_mappings])
def test_a_role_that_is_being_extended_cannot_be_mapped(
    service: Service, manager: SubuserAccount, change: Callable[..., HttpResponse]
) -> None:
    other = create_subuser(service)

    outcome = call_while_locked(
        service,
        extend_role(service),
        lambda: change(service, other.user_id, role_refs(ROLE[1]), headers=manager.core),
    )

    assert outcome.waited
    assert read_problem(outcome.result, 403)["code"] == "maps_more"
    assert list_mappings(service, other.username) == []


# ── users ────────────────────────────────────────────────────────────────────────────────────────


def test_roles_that_are_being_mapped_count_towards_the_limit(service: Service) -> None:
    names = [f"small-{number}" for number in range(6)]
    insert_roles(service, names, [])
    user = create_subuser(service)

    outcome = call_while_locked(
        service,
        map_in_transaction(service, user.user_id, *names[:5]),
        lambda: map_roles(service, user.user_id, role_refs(names[5])),
    )

    assert outcome.waited
    assert outcome.result.status_code == 400
    assert len(list_mappings(service, user.username)) == 5


def test_a_user_who_is_being_promoted_cannot_be_deleted(
    service: Service, manager: SubuserAccount
) -> None:
    insert_roles(service, ["admins"], ["Admin"])
    user = create_subuser(service)

    outcome = call_while_locked(
        service,
        map_in_transaction(service, user.user_id, "admins"),
        lambda: service.http.delete(f"/m/u/users/{user.user_id}", headers=manager.core),
    )

    assert outcome.waited
    assert read_problem(outcome.result, 403)["code"] == "holds_more"


# ── refresh tokens ───────────────────────────────────────────────────────────────────────────────


def test_a_refresh_token_that_is_being_used_has_one_successor(service: Service) -> None:
    organisation, successors = service.organisation, []
    token = issue_tokens(service, client_form(organisation))["refresh_token"]

    async def use(db: AsyncConnection, scope: TenantScope) -> None:
        family = await refresh_tokens.rotate_refresh_token(
            db,
            service.resources.encryptor,
            scope,
            Product.core,
            client_id=organisation.client_id,
            refresh_token=token,
        )
        successors.append(family.refresh_token)

    outcome = call_while_locked(
        service, use, lambda: issue_tokens(service, refresh_form(organisation, token))
    )

    assert outcome.waited
    assert outcome.result["refresh_token"] == successors[0]


# ── organisations ────────────────────────────────────────────────────────────────────────────────


def test_a_short_name_that_is_being_assigned_is_not_free(service: Service) -> None:
    async def assign(db: AsyncConnection, scope: TenantScope) -> None:
        await lock_name_assignment(db)
        await add_lookup(db, scope, LookupKind.short_name, "held-name")

    outcome = call_while_locked(service, assign, lambda: service.new_organisation("Held Name"))

    assert outcome.waited
    short_name = read_short_name(service, outcome.result.organisation_id)
    assert short_name.startswith("held-name-")


def test_an_organisation_whose_job_is_being_started_is_not_deleted(service: Service) -> None:
    organisation_id = service.organisation.organisation_id

    async def start_job(db: AsyncConnection, scope: TenantScope) -> None:
        job_id = await add_job(db, scope, "import_costs", due=clock.now())
        await claim_job(db, scope, at=clock.now(), lease=timedelta(hours=1), job_id=job_id)

    def delete() -> str:
        try:
            asyncio.run(
                delete_organisation(
                    service.database_url, service.settings, organisation_id, lambda name: name
                )
            )
        except Conflict as error:
            return error.code
        return "deleted"

    outcome = call_while_locked(service, start_job, delete)

    assert outcome.waited
    assert outcome.result == "job_running"
