"""What a stranger may name before we know the organisation: a client id, a name of its own."""

from enum import StrEnum

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import Scope, metadata

# any number will do, as long as nothing else locks by it
_TURNS_LOCK = 7_241_996_333

directory = sa.Table(
    "directory",
    metadata,
    sa.Column("organisation_id", sa.Text, nullable=False),
    sa.Column("kind", sa.Text, primary_key=True),
    sa.Column("key", sa.Text, primary_key=True),
)


class Named(StrEnum):
    api_client = "api_client"
    short_name = "short_name"
    organisation = "organisation"
    stack = "stack"


async def take_turns(db: AsyncConnection) -> None:
    """Until the transaction ends nobody else looks for a free name and takes it."""
    await db.execute(sa.select(sa.func.pg_advisory_xact_lock(_TURNS_LOCK)))


async def put_in_directory(db: AsyncConnection, scope: Scope, kind: Named, key: str) -> None:
    await db.execute(
        sa.insert(directory).values(organisation_id=scope.organisation_id, kind=kind, key=key)
    )


async def take_from_directory(db: AsyncConnection, scope: Scope, kind: Named, key: str) -> None:
    await db.execute(
        sa.delete(directory).where(
            directory.c.organisation_id == scope.organisation_id,
            directory.c.kind == kind,
            directory.c.key == key,
        )
    )


async def organisation_of(db: AsyncConnection, kind: Named, key: str) -> str | None:
    """Whose it is: an exact match or nothing; the table itself shows only one's own rows."""
    found = await db.execute(sa.select(sa.func.find_organisation(kind.value, key)))
    answer: str | None = found.scalar_one()
    return answer
