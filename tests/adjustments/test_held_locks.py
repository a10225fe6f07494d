"""Entries and reservations are locked while a request or an import decides about them."""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.adjustments.recalculation import records as entry_records
from nimbill.adjustments.reserved_instances import records as reservation_records
from nimbill.adjustments.reserved_instances.operations import replace_reservations
from nimbill.costs.months import records as months
from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation.billing_period import BillingPeriod
from tests.adjustments.recalculation import entries
from tests.adjustments.recalculation.entries import FEE, apply_entries, import_entries
from tests.adjustments.reserved_instances import reservations
from tests.adjustments.reserved_instances.reservations import (
    build_reservation,
    create_customers,
    get_owner_record,
    import_reservations,
    list_moved_records,
    move_instances,
    remove_move,
)
from tests.held_locks import InTransaction, call_while_locked
from tests.running_service import Service

# ── recalculation entries ────────────────────────────────────────────────────────────────────────


@pytest.fixture
def entry(service: Service) -> str:
    entries.create_group_with_account(service)
    import_entries(service, FEE)
    entry_id: str = entries.get_only_entry(service)["id"]
    return entry_id


def apply_elsewhere(entry_id: str) -> InTransaction:
    """Apply the entry to another month in the transaction that holds the lock."""

    async def apply(db: AsyncConnection, scope: TenantScope) -> None:
        await entry_records.lock_entries(db, scope, "aws", [entry_id])
        await entry_records.mark_applied(
            db,
            scope,
            [entry_id],
            month=entries.LATER,
            exchange_rate=FEE.unblended_cost,
            tax_free=True,
        )

    return apply


def test_applying_an_entry_sees_that_it_was_applied_meanwhile(service: Service, entry: str) -> None:
    outcome = call_while_locked(
        service, apply_elsewhere(entry), lambda: apply_entries(service, [entry])
    )

    assert outcome.waited
    assert outcome.result.json()["code"] == "entry_applied"
    assert entries.get_only_entry(service)["tax_free"] is True


def test_an_import_keeps_an_entry_that_is_being_applied(service: Service, entry: str) -> None:
    """The month that the entry is applied to has another lock than the month of the import."""
    outcome = call_while_locked(service, apply_elsewhere(entry), lambda: import_entries(service))

    assert outcome.waited
    assert [vanished.entry_id for vanished in outcome.result.vanished] == [entry]
    assert entries.get_only_entry(service, entries.LATER)["apply"] is True


# ── reserved instances ───────────────────────────────────────────────────────────────────────────


@pytest.fixture
def reservation(service: Service) -> str:
    create_customers(service)
    ri_id: str = get_owner_record(service)["id"]
    return ri_id


def lock_reservation(ri_id: str) -> InTransaction:
    return lambda db, scope: reservation_records.lock_reservation(db, scope, "aws", ri_id)


async def lock_closings(db: AsyncConnection, scope: TenantScope) -> Any:
    await months.lock_closing_count(db, scope, "aws", shared=False)


def test_moving_counts_what_was_moved_meanwhile(service: Service, reservation: str) -> None:
    async def move_seven(db: AsyncConnection, scope: TenantScope) -> None:
        await reservation_records.add_move(
            db,
            scope,
            move_id="ri_other",
            ri_id=reservation,
            customer_id=reservations.OTHER,
            number=7,
            closing_count=0,
        )

    outcome = call_while_locked(
        service,
        lock_reservation(reservation),
        lambda: move_instances(service, 4, ri_id=reservation),
        change=move_seven,
    )

    assert outcome.waited
    assert outcome.result.json()["code"] == "too_few_remain"


def test_removing_a_move_waits_for_changes_of_its_reservation(
    service: Service, reservation: str
) -> None:
    move_instances(service, 4)
    move_id = list_moved_records(service)[0]["id"]

    outcome = call_while_locked(
        service, lock_reservation(reservation), lambda: remove_move(service, move_id)
    )

    assert outcome.waited


@pytest.mark.parametrize("operation", ["move", "remove"])
def test_moving_and_removing_wait_for_a_closing(
    service: Service, reservation: str, operation: str
) -> None:
    """The closing decides which moves belong to the closed month."""
    move_instances(service, 4)
    move_id = list_moved_records(service)[0]["id"]
    calls = {
        "move": lambda: move_instances(service, 1, ri_id=reservation),
        "remove": lambda: remove_move(service, move_id),
    }

    assert call_while_locked(service, lock_closings, calls[operation]).waited


def test_an_import_does_not_overwrite_the_description_of_a_later_month_that_is_being_imported(
    service: Service, reservation: str
) -> None:
    """The two months have different locks."""

    async def lock_weakly(db: AsyncConnection, _scope: TenantScope) -> None:
        """Fees that refer to the reservation can be added under this lock."""
        stmt = sa.text("SELECT FROM reserved_instances WHERE ri_id = :ri_id FOR NO KEY UPDATE")
        await db.execute(stmt, {"ri_id": reservation})

    async def import_later_month(db: AsyncConnection, scope: TenantScope) -> None:
        described = build_reservation(platform="of the later month", number=20)
        period = BillingPeriod(reservations.LATER, "aws")
        await replace_reservations(db, scope, period, reservations.PAYER, [described])

    outcome = call_while_locked(
        service,
        lock_weakly,
        lambda: import_reservations(service, build_reservation(platform="of the earlier month")),
        change=import_later_month,
    )

    assert outcome.waited
    record = get_owner_record(service)
    assert (record["platform"], record["number"]) == ("of the later month", 20)
