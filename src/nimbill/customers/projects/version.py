"""The version of a project."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.caller import Caller
from nimbill.customers.projects import records
from nimbill.database.tenant_scope import Row
from nimbill.http.versions import ObjectVersion

# See docs/choices.md, object-versions.


def build_project_version(row: Row) -> ObjectVersion:
    values = [row.project_id, row.project_code, row.project_label, row.project_currency]
    return ObjectVersion(values, f"project/{row.project_id}")


async def load_project_version(
    db: AsyncConnection, caller: Caller, path: Mapping[str, Any], lock: bool
) -> ObjectVersion | None:
    row = await records.find_project(db, caller.scope, path["project_id"], lock=lock)
    return None if row is None else build_project_version(row)
