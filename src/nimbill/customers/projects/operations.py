"""What may be done with projects."""

from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.customers.projects import records
from nimbill.customers.projects.bodies import ProjectBody
from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation.errors import Conflict, not_found
from nimbill.foundation.ids import new_id


async def create_project(db: AsyncConnection, scope: TenantScope, body: ProjectBody) -> str:
    """Refuses a code that another project has."""
    await _refuse_taken_code(db, scope, body)
    project_id = new_id("prj")
    await records.add_project(db, scope, project_id, body)
    return project_id


async def edit_project(
    db: AsyncConnection, scope: TenantScope, project_id: str, body: ProjectBody
) -> None:
    await _refuse_unknown_project(db, scope, project_id)
    await _refuse_taken_code(db, scope, body, but_of=project_id)
    await records.change_project(db, scope, project_id, body)


async def delete_project(db: AsyncConnection, scope: TenantScope, project_id: str) -> None:
    """Refused while a billing group uses it; the reference itself has the last word."""
    await _refuse_unknown_project(db, scope, project_id)
    try:
        async with db.begin_nested():
            await records.delete_project(db, scope, project_id)
    except IntegrityError:
        raise Conflict("project_in_use", "billing groups use this project") from None


async def _refuse_unknown_project(db: AsyncConnection, scope: TenantScope, project_id: str) -> None:
    if not await records.lock_project(db, scope, project_id):
        raise not_found()


async def _refuse_taken_code(
    db: AsyncConnection, scope: TenantScope, body: ProjectBody, but_of: str | None = None
) -> None:
    if await records.project_code_taken(db, scope, body.project_code, but_of=but_of):
        raise Conflict("project_code_taken", "another project has this code")
