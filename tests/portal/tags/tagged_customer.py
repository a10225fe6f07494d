"""A customer whose costs have tags, in a month with sums by two keys and in one without them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.customers.organisation_settings.records import lock_settings, store_settings
from nimbill.database.tenant_scope import TenantScope
from tests.costs.generated_months import Line, build_line
from tests.costs.months.month_requests import run_in_transaction
from tests.costs.stored_months import store_month
from tests.invoicing.month_end import MONTH, PAYER
from tests.portal.portal_customer import PortalCustomer, create_customer
from tests.running_service import Service

FIRST, SECOND = "111111111111", "222222222222"
STRANGER = "333333333333"
EARLIER = "2026-08"  # was stored before the keys were set
KEYS = ("Team", "Stage")
RATE = Decimal("0.95") * Decimal("150.25")  # what the customer pays for a dollar
EARLIER_RATE = Decimal("0.75") * Decimal("150.25")


def _build_usage(cost: str, day: int, tags: dict[str, str | None], **fields: Any) -> Line:
    start = datetime(2026, 9, day, 5, tzinfo=UTC)
    defaults = {"payer_id": PAYER, "customer_id": FIRST, "service": "AmazonEC2"}
    line = defaults | {"usage_start": start, "tags": list(tags.items())} | fields
    return build_line(cost=Decimal(cost), **line)


LINES = [
    _build_usage("10.0001", 1, {"Team": "red", "Stage": "prod", "Owner": "me"}),
    _build_usage("20", 2, {"Team": "red"}),
    _build_usage("40", 2, {"Team": "blue", "Stage": "prod"}, service="AmazonS3"),
    _build_usage("80", 3, {"Other": "x"}),
    _build_usage("160", 3, {"Team": "red", "Stage": "test"}, customer_id=SECOND),
    _build_usage("320", 3, {"Team": None}, customer_id=SECOND),
    _build_usage("640", 3, {"Team": "red"}, line_type="Tax", kind="tax"),
    _build_usage("1280", 3, {"Team": "red"}, customer_id=STRANGER),
]
EARLIER_LINES = [_build_usage("7", 1, {"Team": "red", "Stage": "prod"})]

GetKey = Callable[[Line], Any]


def create_tagged_customer(service: Service, folder: Path) -> PortalCustomer:
    customer = create_customer(service, folder)
    run_in_transaction(service, _store_keys)
    store_month(service, EARLIER_LINES, month=EARLIER)
    store_month(service, LINES, month=MONTH, tag_keys=KEYS)
    customer.month_end.prepare_groups(customer.company_id)
    return customer


async def _store_keys(db: AsyncConnection, scope: TenantScope) -> None:
    """Without the job that would sum the earlier month by these keys."""
    stored = await lock_settings(db, scope)
    await store_settings(db, scope, msgspec.structs.replace(stored, report_tag_keys=list(KEYS)))


def get_tag(line: Line, key: str) -> str | None:
    """The value of a tag; "" for a key without a value, None without the key."""
    tags = dict(line["tags"])
    return (tags[key] or "") if key in tags else None


def sum_usage(get_key: GetKey, lines: Iterable[Line] = LINES) -> dict[Any, Decimal]:
    """Sum the customer's usage by a key, at the customer's price."""
    sums: dict[Any, Decimal] = defaultdict(Decimal)
    for line in lines:
        if line["kind"] == "usage" and line["customer_id"] != STRANGER:
            sums[get_key(line)] += line["cost"] * RATE
    return dict(sums)
