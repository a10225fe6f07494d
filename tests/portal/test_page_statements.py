"""How many statements a page executes: time spent on small statements adds up."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import TenantScope, transaction
from nimbill.portal.commitments.reservations import list_reservations
from nimbill.portal.fees.bodies import FeeKind
from nimbill.portal.fees.operations import load_fees
from nimbill.portal.usage_sums import Dimension, load_usage
from nimbill.portal.view import PortalView, load_company_view
from tests.invoicing.month_end import MONTH
from tests.portal.portal_scene import PortalScene

NOW = datetime(2026, 9, 16, tzinfo=UTC)
Read = Callable[[AsyncConnection, PortalView], Coroutine[Any, Any, Any]]

PAGES: dict[str, Read] = {
    "usage": lambda db, view: load_usage(db, view, [MONTH], [Dimension.account]),
    "usage by tag": lambda db, view: load_usage(db, view, [MONTH], [Dimension.tag], ["Team"]),
    "fees": lambda db, view: load_fees(db, view, MONTH, FeeKind.fee),
    "reservations": lambda db, view: list_reservations(db, view, MONTH, NOW),
}


@pytest.mark.parametrize("page", PAGES)
def test_a_page_reads_its_view_its_terms_and_its_rows(scene: PortalScene, page: str) -> None:
    service = scene.service
    statements: list[str] = []
    scope = TenantScope(service.organisation.organisation_id)

    async def read() -> None:
        async with transaction(service.resources.engine, scope.organisation_id) as db:
            own = db.sync_connection  # jobs have connections of their own

            def count(connection: Any, _cursor: Any, stmt: str, *_others: Any) -> None:
                if connection is own:
                    statements.append(stmt)

            sa.event.listen(own, "before_cursor_execute", count)
            view = await load_company_view(db, scope, scene.customer.company_id)
            await PAGES[page](db, view)

    service.run(read)

    assert len(statements) == 3, statements
