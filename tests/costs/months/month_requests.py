"""Closes, reopens and parks months in tests, and runs functions in a transaction."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.costs.months import records
from nimbill.costs.months.records import MonthState
from nimbill.database.tenant_scope import TenantScope, transaction
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.vendors import Vendor
from tests.problem_responses import HttpResponse
from tests.running_service import Service

T = TypeVar("T")

MONTH = "2026-01"


def close_month(
    service: Service, month: str = MONTH, vendor: Any = "aws", headers: Any = None, **fields: Any
) -> HttpResponse:
    """Close the month even if it is not ready, unless `override` is sent as something else."""
    body = {"vendor": vendor, "override": True, "reason": "closed by a test", **fields}
    path = f"/m/core/invoices/close/{month}"
    return service.http.post(path, json=body, headers=headers or service.root())


def reopen_month(
    service: Service,
    month: str = MONTH,
    vendor: Any = "aws",
    headers: Any = None,
    *,
    reason: Any = "a late credit",
) -> HttpResponse:
    body = {"vendor": vendor, "reason": reason}
    path = f"/m/core/invoices/reopen/{month}"
    return service.http.post(path, json=body, headers=headers or service.root())


def run_in_transaction(
    service: Service, function: Callable[[AsyncConnection, TenantScope], Awaitable[T]]
) -> T:
    """Use a new transaction of the test's organisation."""
    scope = TenantScope(service.organisation.organisation_id)

    async def run() -> T:
        async with transaction(service.resources.engine, scope.organisation_id) as db:
            return await function(db, scope)

    return service.run(run)


def load_state(service: Service, month: str = MONTH, vendor: Vendor = "aws") -> MonthState:
    return run_in_transaction(
        service, lambda db, scope: records.load_month_state(db, scope, BillingPeriod(month, vendor))
    )


def park_month(
    service: Service, import_id: str, month: str = MONTH, *, reason: str = "sums differ"
) -> None:
    run_in_transaction(
        service,
        lambda db, scope: records.park_month(
            db, scope, BillingPeriod(month, "aws"), import_id, reason
        ),
    )


def unpark_month(service: Service, import_id: str, month: str = MONTH) -> bool:
    return run_in_transaction(
        service,
        lambda db, scope: records.unpark_month(db, scope, BillingPeriod(month, "aws"), import_id),
    )
