"""The version of the list of budgets of a company."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.caller import Caller
from nimbill.http.versions import ObjectVersion
from nimbill.portal.budgets import records
from nimbill.portal.one_company import load_one_company

# See docs/choices.md, object-versions.


async def load_budgets_version(
    db: AsyncConnection, caller: Caller, parameters: Mapping[str, Any], lock: bool
) -> ObjectVersion | None:
    """None for a user with filters, who sees a part of the list and cannot change it."""
    company_id, view = await load_one_company(db, caller, parameters.get("company_id"))
    if view.is_filtered:
        return None
    load = records.lock_budgets if lock else records.list_budgets
    return ObjectVersion(await load(db, view.scope, company_id), f"budgets/{company_id}")
