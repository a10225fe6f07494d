"""States of months, and the locks that keep them unchanged."""

from __future__ import annotations

import pytest
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.costs.months import records
from nimbill.costs.months.records import MonthState
from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation.billing_period import BillingPeriod
from tests.costs.months.month_requests import (
    MONTH,
    close_month,
    load_state,
    park_month,
    run_in_transaction,
    unpark_month,
)
from tests.held_locks import InTransaction, call_while_locked, in_transaction
from tests.running_service import Service


def test_a_month_without_a_record_is_open(service: Service) -> None:
    state = load_state(service, "1999-12")

    assert state == MonthState(closed=False, closing_number=0, parked_reasons={})


def test_a_month_is_parked_until_all_parked_imports_are_released(service: Service) -> None:
    park_month(service, "imp_one", reason="sums differ")
    park_month(service, "imp_two", reason="a currency is missing")
    park_month(service, "imp_two", reason="two currencies are missing")

    assert load_state(service).parked_reasons == {
        "imp_one": "sums differ",
        "imp_two": "two currencies are missing",
    }
    assert unpark_month(service, "imp_one")
    assert not unpark_month(service, "imp_one")
    assert load_state(service).is_parked
    assert unpark_month(service, "imp_two")
    assert not load_state(service).is_parked
    assert not load_state(service, "2026-02").is_parked


def test_locking_a_month_returns_its_state(service: Service) -> None:
    close_month(service)
    park_month(service, "imp_one", "2026-02")

    def lock(month: str) -> MonthState:
        return run_in_transaction(
            service, lambda db, scope: records.lock_month(db, scope, BillingPeriod(month, "aws"))
        )

    assert lock(MONTH).closed
    assert lock("2026-02").is_parked


def second_lock_waits(service: Service, first: str, second: str) -> bool:
    def lock(name: str) -> InTransaction:
        shared = {} if name.startswith("default") else {"shared": name.startswith("shared")}
        period = BillingPeriod(name.split()[-1], "aws")

        async def take(db: AsyncConnection, scope: TenantScope) -> None:
            if name.endswith("closings"):
                await records.lock_closing_count(db, scope, "aws", **shared)
            elif name.startswith("only shared"):
                await records.lock_month_shared(db, scope, period)
            else:
                await records.lock_month(db, scope, period, **shared)

        return take

    return call_while_locked(service, lock(first), in_transaction(service, lock(second))).waited


@pytest.mark.parametrize(
    ("first", "second", "waits"),
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
        ("shared 2026-01", "default 2026-01", True),
        ("shared closings", "default closings", False),
        ("only shared 2026-01", "2026-01", True),
        ("only shared 2026-01", "shared 2026-01", False),
    ],
)
def test_an_exclusive_lock_excludes_all_others(
    service: Service, first: str, second: str, *, waits: bool
) -> None:
    assert second_lock_waits(service, first, second) is waits
