"""Load the caller of a token and its permissions in one query."""

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.caller import Caller
from nimbill.access.role_actions import RoleAction
from nimbill.access.signing_keys import signing_keys
from nimbill.access.tokens import SUBJECT_TYPES, Claims
from nimbill.database.tenant_scope import TenantScope, fetch_row
from nimbill.foundation.product import Product
from nimbill.foundation.user_kind import PORTAL_USER_KINDS, UserKind

_LOAD_CALLER = Path(__file__).with_name("load_caller.sql").read_text()

# Loads the caller that a token names and sets the tenant of the transaction.
CallerLoader = Callable[[AsyncConnection, Claims], Awaitable[Caller | None]]


async def load_caller(db: AsyncConnection, claims: Claims) -> Caller | None:
    """Return None if the user, client or key does not exist or its credentials have changed."""
    row = await fetch_row(
        db,
        _LOAD_CALLER,
        claims.organisation_id,
        claims.user_id,
        claims.client_id,
        claims.product,
        claims.kid,
        claims.family_id,
    )
    if row is None:
        return None
    username, kind, root_user, credential_epoch, permissions, billing_groups, company_id, meta = row
    if credential_epoch != claims.epoch:
        return None
    is_root = kind in (UserKind.root, UserKind.reseller)
    visible_groups = None if billing_groups is None or is_root else frozenset(billing_groups)
    if kind in PORTAL_USER_KINDS:
        if company_id is None or claims.product != Product.portal:
            return None
        visible_groups = frozenset({company_id})
    return Caller(
        user_id=claims.user_id,
        username=username,
        kind=UserKind(kind),
        root_user=root_user,
        client_id=claims.client_id,
        subject_type=claims.subject_type,
        product=claims.product,
        permissions=frozenset({RoleAction.Admin}) if is_root else frozenset(permissions),
        scope=TenantScope(claims.organisation_id, visible_groups),
        epoch=credential_epoch,
        family_id=claims.family_id,
        flags=meta,
    )


async def load_caller_again(
    db: AsyncConnection,
    product: Product,
    *,
    organisation_id: str,
    user_id: str,
    client_id: str,
    family_id: str | None,
    epoch: int,
) -> Caller | None:
    """Load a caller who was authenticated earlier, with the permissions that it has now.

    Return None if the credentials are no longer valid.
    """
    active = sa.select(signing_keys.c.kid).where(
        signing_keys.c.product == product, signing_keys.c.state == "active"
    )
    kid = (await db.execute(active)).scalar_one()
    return await load_caller(
        db,
        Claims(
            product=product,
            kid=kid,
            organisation_id=organisation_id,
            user_id=user_id,
            client_id=client_id,
            subject_type="client",
            epoch=epoch,
            issued_at=0,
            expires_at=0,
            family_id=family_id,
        ),
    )


CALLER_LOADERS: Mapping[str, CallerLoader] = dict.fromkeys(SUBJECT_TYPES, load_caller)
