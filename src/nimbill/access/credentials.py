"""Load the caller of a token and its permissions in one query."""

from collections.abc import Awaitable, Callable, Mapping

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.caller import Caller
from nimbill.access.role_actions import RoleAction
from nimbill.access.tokens import SUBJECT_TYPES, Claims
from nimbill.database.tenant_scope import TenantScope, fetch_row
from nimbill.foundation.product import Product
from nimbill.foundation.user_kind import PORTAL_USER_KINDS, UserKind

_LOAD_CALLER = (
    "SELECT username, kind, root_user, credential_epoch, permissions, billing_groups,"
    " company_id, meta FROM load_caller($1, $2, $3, $4, $5)"
)

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
        flags=meta,
    )


CALLER_LOADERS: Mapping[str, CallerLoader] = dict.fromkeys(SUBJECT_TYPES, load_caller)


_CREDENTIALS_VALID = sa.text(
    """
    SELECT EXISTS (
        SELECT FROM users u
        WHERE u.organisation_id = :organisation AND u.user_id = :user
            AND u.credential_epoch = :epoch
            AND (
                EXISTS (
                    SELECT FROM api_clients c
                    WHERE c.organisation_id = :organisation AND c.client_id = :client
                )
                OR EXISTS (
                    SELECT FROM token_families t
                    WHERE t.organisation_id = :organisation AND t.family_id = :client
                        AND t.user_id = :user AND t.client_id IS NULL AND NOT t.revoked
                )
            )
    )
    """
)


async def credentials_valid(
    db: AsyncConnection, scope: TenantScope, *, user_id: str, client_id: str, epoch: int
) -> bool:
    """Return whether credentials used earlier are still valid."""
    parameters = {
        "organisation": scope.organisation_id,
        "user": user_id,
        "client": client_id,
        "epoch": epoch,
    }
    return bool((await db.execute(_CREDENTIALS_VALID, parameters)).scalar_one())
