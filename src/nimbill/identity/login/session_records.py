"""Queries on the console sessions of a user."""

from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import Row, TenantScope, of_tenant
from nimbill.foundation import clock
from nimbill.identity.login.records import refresh_tokens, token_families
from nimbill.identity.login.refresh_tokens import ABSOLUTE_LIFETIME, IDLE_LIFETIME
from nimbill.identity.users.records import users


async def list_sessions(db: AsyncConnection, scope: TenantScope, user_id: str) -> Sequence[Row]:
    """List the sessions that can still be continued, the last used one first."""
    now = clock.now()
    last_use = sa.func.max(refresh_tokens.c.issue_time)
    stmt = (
        sa.select(
            token_families.c.family_id,
            token_families.c.product,
            token_families.c.user_agent,
            token_families.c.address,
            token_families.c.create_time,
            last_use.label("last_use_time"),
        )
        .join_from(
            token_families,
            refresh_tokens,
            (refresh_tokens.c.organisation_id == token_families.c.organisation_id)
            & (refresh_tokens.c.family_id == token_families.c.family_id),
        )
        .join(
            users,
            (users.c.organisation_id == token_families.c.organisation_id)
            & (users.c.user_id == token_families.c.user_id)
            & (users.c.credential_epoch == token_families.c.credential_epoch),
        )
        .where(
            of_tenant(token_families, scope),
            token_families.c.user_id == user_id,
            token_families.c.client_id.is_(None),
            ~token_families.c.revoked,
            token_families.c.create_time >= now - ABSOLUTE_LIFETIME,
        )
        .group_by(
            token_families.c.family_id,
            token_families.c.product,
            token_families.c.user_agent,
            token_families.c.address,
            token_families.c.create_time,
        )
        .having(last_use >= now - IDLE_LIFETIME)
        .order_by(last_use.desc(), token_families.c.family_id)
    )
    return (await db.execute(stmt)).all()


async def delete_session(
    db: AsyncConnection, scope: TenantScope, user_id: str, family_id: str
) -> bool:
    """Delete the session; its access token is refused from now on."""
    result = await db.execute(
        sa.delete(token_families).where(
            of_tenant(token_families, scope),
            token_families.c.user_id == user_id,
            token_families.c.family_id == family_id,
            token_families.c.client_id.is_(None),
        )
    )
    return bool(result.rowcount)
