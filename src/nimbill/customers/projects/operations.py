"""Changes to projects: the checks in order, then the change."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.caller import Caller
from nimbill.customers.projects import records
from nimbill.customers.projects.bodies import ProjectBody
from nimbill.database.tenant_scope import Row, TenantScope
from nimbill.foundation.errors import Conflict, not_found
from nimbill.foundation.ids import new_id
from nimbill.http.object_version import ObjectVersion


async def create_project(db: AsyncConnection, scope: TenantScope, body: ProjectBody) -> str:
    """Store the project and return its id; refuse a code that is already in use."""
    await _refuse_duplicate_code(db, scope, body)
    project_id = new_id("prj")
    await records.add_project(db, scope, project_id, body)
    return project_id


async def edit_project(
    db: AsyncConnection, scope: TenantScope, project_id: str, body: ProjectBody
) -> None:
    await _require_project(db, scope, project_id)
    await _refuse_duplicate_code(db, scope, body, except_project=project_id)
    await records.change_project(db, scope, project_id, body)


async def delete_project(db: AsyncConnection, scope: TenantScope, project_id: str) -> None:
    """Delete the project unless a foreign key of a billing group refers to it."""
    await _require_project(db, scope, project_id)
    try:
        async with db.begin_nested():
            await records.delete_project(db, scope, project_id)
    except IntegrityError:
        raise Conflict("project_in_use", "Billing groups use this project.") from None


async def _require_project(db: AsyncConnection, scope: TenantScope, project_id: str) -> None:
    if not await records.lock_project(db, scope, project_id):
        raise not_found()


async def _refuse_duplicate_code(
    db: AsyncConnection, scope: TenantScope, body: ProjectBody, except_project: str | None = None
) -> None:
    if await records.project_code_exists(
        db, scope, body.project_code, except_project=except_project
    ):
        raise Conflict("project_code_taken", "Another project has this project_code.")


# See docs/choices.md, object-versions.


def build_project_version(row: Row) -> ObjectVersion:
    values = [row.project_id, row.project_code, row.project_label, row.project_currency]
    return ObjectVersion(values, f"project/{row.project_id}")


async def load_project_version(
    db: AsyncConnection, caller: Caller, path: Mapping[str, Any], lock: bool
) -> ObjectVersion | None:
    row = await records.find_project(db, caller.scope, path["project_id"], lock=lock)
    return None if row is None else build_project_version(row)
