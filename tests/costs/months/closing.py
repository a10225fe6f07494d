"""How months are closed, reopened and parked in tests, and what is done beside requests."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.costs.months import records
from nimbill.costs.months.records import MonthState
from nimbill.database.tenant_scope import TenantScope, transaction
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.vendors import Vendor
from tests.answers import Answer
from tests.running_service import Service

T = TypeVar("T")

MONTH = "2026-01"


def close(
    service: Service, month: str = MONTH, vendor: Any = "aws", headers: Any = None, **fields: Any
) -> Answer:
    body = {"vendor": vendor, **fields}
    path = f"/m/core/invoices/close/{month}"
    return service.http.post(path, json=body, headers=headers or service.root())


def reopen(
    service: Service,
    month: str = MONTH,
    vendor: Any = "aws",
    headers: Any = None,
    *,
    reason: Any = "a late credit",
) -> Answer:
    body = {"vendor": vendor, "reason": reason}
    path = f"/m/core/invoices/reopen/{month}"
    return service.http.post(path, json=body, headers=headers or service.root())


def inside(service: Service, do: Callable[[AsyncConnection, TenantScope], Awaitable[T]]) -> T:
    """Done in a transaction of its own, for the organisation of the test."""
    scope = TenantScope(service.organisation.organisation_id)

    async def run() -> T:
        async with transaction(service.resources.engine, scope.organisation_id) as db:
            return await do(db, scope)

    return service.run(run)


def state(service: Service, month: str = MONTH, vendor: Vendor = "aws") -> MonthState:
    return inside(
        service, lambda db, scope: records.load_month_state(db, scope, BillingPeriod(month, vendor))
    )


def park(
    service: Service, import_id: str, month: str = MONTH, *, reason: str = "sums differ"
) -> None:
    inside(
        service,
        lambda db, scope: records.park_month(
            db, scope, BillingPeriod(month, "aws"), import_id, reason
        ),
    )


def unpark(service: Service, import_id: str, month: str = MONTH) -> bool:
    return inside(
        service,
        lambda db, scope: records.unpark_month(db, scope, BillingPeriod(month, "aws"), import_id),
    )
