"""States of months: parked by imports, and held still while something is done in them."""

from __future__ import annotations

import asyncio

import pytest
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.costs.months import records
from nimbill.costs.months.records import MonthState
from nimbill.database.tenant_scope import TenantScope, transaction
from nimbill.foundation.billing_period import BillingPeriod
from tests.costs.months.closing import MONTH, close, inside, park, state, unpark
from tests.running_service import Service


def test_a_month_nobody_has_spoken_of_is_open(service: Service) -> None:
    assert state(service, "1999-12") == MonthState(
        closed=False, closing_number=0, parked_reasons={}
    )


def test_a_month_is_parked_until_everything_that_parked_it_is_released(service: Service) -> None:
    park(service, "imp_one", reason="sums differ")
    park(service, "imp_two", reason="a currency is missing")
    park(service, "imp_two", reason="two currencies are missing")

    assert state(service).parked_reasons == {
        "imp_one": "sums differ",
        "imp_two": "two currencies are missing",
    }
    assert unpark(service, "imp_one")
    assert not unpark(service, "imp_one")
    assert state(service).is_parked
    assert unpark(service, "imp_two")
    assert not state(service).is_parked
    assert not state(service, "2026-02").is_parked


def test_a_locked_month_is_told_with_its_state(service: Service) -> None:
    close(service)
    park(service, "imp_one", "2026-02")

    def locked(month: str) -> MonthState:
        return inside(
            service, lambda db, scope: records.lock_month(db, scope, BillingPeriod(month, "aws"))
        )

    assert locked(MONTH).closed
    assert locked("2026-02").is_parked


async def waits(service: Service, first: str, second: str) -> bool:
    """Whether the second holder waits for the first."""
    scope = TenantScope(service.organisation.organisation_id)
    engine = service.resources.engine

    async def hold(db: AsyncConnection, how: str) -> None:
        shared = how.startswith("shared")
        if how.endswith("closings"):
            await records.lock_closing_count(db, scope, "aws", shared=shared)
        else:
            await records.lock_month(
                db, scope, BillingPeriod(how.split()[-1], "aws"), shared=shared
            )

    async with (
        transaction(engine, scope.organisation_id) as one,
        transaction(engine, scope.organisation_id) as other,
    ):
        await hold(one, first)
        holding = asyncio.create_task(hold(other, second))
        done, _ = await asyncio.wait([holding], timeout=0.3)
        if not done:
            await one.rollback()  # frees it
        await holding
        return not done


@pytest.mark.parametrize(
    ("first", "second", "waiting"),
    [
        ("2026-01", "2026-01", True),
        ("2026-01", "shared 2026-01", True),
        ("shared 2026-01", "2026-01", True),
        ("shared 2026-01", "shared 2026-01", False),
        ("2026-01", "2026-02", False),
        ("closings", "shared closings", True),
        ("shared closings", "closings", True),
        ("shared closings", "shared closings", False),
        ("shared closings", "2026-01", False),
    ],
)
def test_who_holds_a_month_alone_keeps_others_out(
    service: Service, first: str, second: str, *, waiting: bool
) -> None:
    assert service.run(lambda: waits(service, first, second)) is waiting
