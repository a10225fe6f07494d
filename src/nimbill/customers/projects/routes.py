"""HTTP routes of projects; paths are relative to /m/core."""

from typing import Literal

from litestar.params import FromPath, FromQuery, JSONBody
from msgspec import UNSET

from nimbill.access.gate import Audience, Changes
from nimbill.access.role_actions import RoleAction
from nimbill.customers.projects import operations, records
from nimbill.customers.projects.bodies import ProjectBody, ProjectCreated, ProjectRecord
from nimbill.customers.projects.operations import build_project_version, load_project_version
from nimbill.database.list_query import ListQuery
from nimbill.foundation.basis import chosen, stated
from nimbill.foundation.currency import Currency
from nimbill.http.list_parameters import ReportTotal, Search
from nimbill.http.request_bodies import Success
from nimbill.http.routing import Limit, Offset, RequestCaller, Transaction, delete, get, post
from nimbill.http.versions import WithEtags

ProjectSort = Literal[
    "project_code",
    "-project_code",
    "project_label",
    "-project_label",
    "project_currency",
    "-project_currency",
]


@post(
    "/project",
    audiences=[Audience.core],
    role_actions=[RoleAction.ModifyProject],
    basis=stated("Projects"),
    audited="project/{project_id}",
    changes=Changes.shared_records,
)
async def create_project(
    data: JSONBody[ProjectBody], caller: RequestCaller, db: Transaction
) -> ProjectCreated:
    """Create a project. Its code must be unique."""
    return ProjectCreated(project_id=await operations.create_project(db, caller.scope, data))


@get(
    "/project",
    audiences=[Audience.core],
    role_actions=[RoleAction.ReadProject, RoleAction.ModifyProject],
    basis=chosen("project-paths"),
    counted=True,
)
async def list_projects(
    caller: RequestCaller,
    db: Transaction,
    report_total: ReportTotal,
    limit: Limit = None,
    offset: Offset = 0,
    search: Search = None,
    sort: FromQuery[ProjectSort | None] = None,
    etags: WithEtags = False,
) -> list[ProjectRecord]:
    """List all projects, ordered by code.

    `search` looks in project_id, project_code and project_label.
    """
    query = ListQuery(limit, offset, search, sort)
    rows, total = await records.list_projects(db, caller.scope, query)
    report_total(total)
    return [
        ProjectRecord(
            project_id=row.project_id,
            project_code=row.project_code,
            project_label=row.project_label,
            project_currency=Currency(row.project_currency),
            etag=build_project_version(row).etag if etags else UNSET,
        )
        for row in rows
    ]


@post(
    "/project/{project_id:str}",
    audiences=[Audience.core],
    role_actions=[RoleAction.ModifyProject],
    basis=chosen("project-paths"),
    versioned=load_project_version,
    audited="project/{project_id}",
    changes=Changes.shared_records,
)
async def edit_project(
    project_id: FromPath[str],
    data: JSONBody[ProjectBody],
    caller: RequestCaller,
    db: Transaction,
) -> Success:
    """Change a project. All fields are required."""
    await operations.edit_project(db, caller.scope, project_id, data)
    return Success()


@delete(
    "/project/{project_id:str}",
    audiences=[Audience.core],
    role_actions=[RoleAction.ModifyProject],
    basis=chosen("project-paths"),
    versioned=load_project_version,
    audited="project/{project_id}",
    changes=Changes.shared_records,
)
async def delete_project(
    project_id: FromPath[str], caller: RequestCaller, db: Transaction
) -> Success:
    """Delete a project that no billing group uses."""
    await operations.delete_project(db, caller.scope, project_id)
    return Success()


ROUTES = [create_project, list_projects, edit_project, delete_project]
