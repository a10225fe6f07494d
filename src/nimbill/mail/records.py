"""What mails need of the organisation."""

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import TenantScope, of_tenant

# See docs/choices.md, mail-sender.

# The identity package stores organisations, so its table is declared here again for reading.
_organisations = sa.table(
    "organisations", sa.column("organisation_id", sa.Text), sa.column("name", sa.Text)
)


async def find_organisation_name(db: AsyncConnection, scope: TenantScope) -> str | None:
    """Return the name, or None if the organisation was deleted."""
    stmt = sa.select(_organisations.c.name).where(of_tenant(_organisations, scope))
    name: str | None = (await db.execute(stmt)).scalar_one_or_none()
    return name
