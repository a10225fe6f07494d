"""Limits of the portal hold for simultaneous requests.

Each test adds a record in a transaction that is still open, and sends a request that must not count
the records before the transaction is committed.
"""

from __future__ import annotations

import pytest
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.customers.billing_groups.records import lock_billing_group
from nimbill.database.tenant_scope import TenantScope
from nimbill.identity.users.records import lock_user
from nimbill.portal.account_groups import records as group_records
from nimbill.portal.groups import operations as group_operations
from nimbill.portal.saved_filters import operations as filter_operations
from nimbill.portal.saved_filters import records as filter_records
from nimbill.portal.saved_filters.bodies import SavedFilter
from tests.held_locks import call_while_locked
from tests.portal.portal_scene import PortalScene
from tests.problem_responses import read_problem


def test_a_filter_that_is_being_saved_counts_towards_the_limit(
    scene: PortalScene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(filter_operations, "FILTERS_MAX", 1)
    user_id = scene.customer.get("/me")["user_id"]

    async def add_filter(db: AsyncConnection, scope: TenantScope) -> None:
        await lock_user(db, scope, user_id)
        saved = SavedFilter(filter_id="flt_first", name="first", content={})
        await filter_records.add_filter(db, scope, user_id, saved)

    outcome = call_while_locked(
        scene.service,
        add_filter,
        lambda: scene.request("POST", "/filters", {"name": "second", "content": {}}),
    )

    assert outcome.waited
    assert read_problem(outcome.result, 409)["code"] == "too_many_saved_filters"
    assert [each["name"] for each in scene.customer.get("/filters")] == ["first"]


def test_an_account_group_that_is_being_created_counts_towards_the_limit(
    scene: PortalScene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group_operations, "GROUPS_MAX", 1)
    company_id = scene.customer.company_id

    async def add_group(db: AsyncConnection, scope: TenantScope) -> None:
        await lock_billing_group(db, scope, company_id)
        await group_records.add_group(
            db, scope, group_id="agr_first", company_id=company_id, name="first"
        )

    outcome = call_while_locked(
        scene.service,
        add_group,
        lambda: scene.request("POST", "/groups", {"name": "second", "customer_ids": []}),
    )

    assert outcome.waited
    assert read_problem(outcome.result, 409)["code"] == "too_many_account_groups"
    assert [each["name"] for each in scene.customer.get("/groups")] == ["first"]
