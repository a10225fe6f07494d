"""Stored projects and the queries on them."""

from collections.abc import Collection

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.customers.projects.bodies import ProjectBody
from nimbill.database.list_query import COMPLETE, ListColumns, ListQuery, Page, fetch_page
from nimbill.database.tenant_scope import Row, TenantScope, is_any_of, metadata, of_tenant

projects = sa.Table(
    "projects",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("project_id", sa.Text, primary_key=True),
    sa.Column("project_code", sa.Text, nullable=False),
    sa.Column("project_label", sa.Text, nullable=False),
    sa.Column("project_currency", sa.Text, nullable=False),
    sa.Column("create_time", sa.DateTime(timezone=True), nullable=False),
)


def _match_id(scope: TenantScope, project_id: str) -> list[sa.ColumnElement[bool]]:
    return [of_tenant(projects, scope), projects.c.project_id == project_id]


_COLUMNS = ListColumns(
    table=projects,
    order=[projects.c.project_code],
    searched=[projects.c.project_id, projects.c.project_code, projects.c.project_label],
    sortable={
        name: projects.c[name] for name in ("project_code", "project_label", "project_currency")
    },
)


async def list_projects(
    db: AsyncConnection, scope: TenantScope, query: ListQuery = COMPLETE
) -> Page:
    """List the projects of the organisation in the order of their codes."""
    return await fetch_page(db, scope, sa.select(projects), _COLUMNS, query)


async def project_exists(db: AsyncConnection, scope: TenantScope, project_id: str) -> bool:
    stmt = sa.select(sa.exists().where(*_match_id(scope, project_id)))
    return bool((await db.execute(stmt)).scalar_one())


async def list_existing_projects(
    db: AsyncConnection, scope: TenantScope, project_ids: Collection[str]
) -> set[str]:
    """Return those of these ids that name a project."""
    stmt = sa.select(projects.c.project_id).where(
        of_tenant(projects, scope), is_any_of(projects.c.project_id, project_ids)
    )
    return set((await db.execute(stmt)).scalars())


async def lock_project(db: AsyncConnection, scope: TenantScope, project_id: str) -> bool:
    """Lock the row until the transaction ends; return whether the project exists."""
    stmt = sa.select(projects.c.project_id).where(*_match_id(scope, project_id))
    return (await db.execute(stmt.with_for_update())).one_or_none() is not None


async def find_project(
    db: AsyncConnection, scope: TenantScope, project_id: str, *, lock: bool
) -> Row | None:
    stmt = sa.select(projects).where(*_match_id(scope, project_id))
    return (await db.execute(stmt.with_for_update() if lock else stmt)).one_or_none()


async def project_code_exists(
    db: AsyncConnection, scope: TenantScope, project_code: str, *, except_project: str | None = None
) -> bool:
    stmt = sa.select(
        sa.exists().where(
            of_tenant(projects, scope),
            projects.c.project_code == project_code,
            projects.c.project_id.is_distinct_from(except_project),
        )
    )
    return bool((await db.execute(stmt)).scalar_one())


async def add_project(
    db: AsyncConnection, scope: TenantScope, project_id: str, body: ProjectBody
) -> None:
    await db.execute(
        sa.insert(projects).values(
            organisation_id=scope.organisation_id,
            project_id=project_id,
            project_code=body.project_code,
            project_label=body.project_label,
            project_currency=body.project_currency,
        )
    )


async def change_project(
    db: AsyncConnection, scope: TenantScope, project_id: str, body: ProjectBody
) -> None:
    await db.execute(
        sa.update(projects)
        .where(*_match_id(scope, project_id))
        .values(
            project_code=body.project_code,
            project_label=body.project_label,
            project_currency=body.project_currency,
        )
    )


async def delete_project(db: AsyncConnection, scope: TenantScope, project_id: str) -> None:
    await db.execute(sa.delete(projects).where(*_match_id(scope, project_id)))
