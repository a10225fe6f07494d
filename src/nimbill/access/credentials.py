"""The one query in front of every request: is the caller alive, and what may it do."""

from collections.abc import Awaitable, Callable, Mapping

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.caller import Caller
from nimbill.access.role_actions import RoleAction
from nimbill.access.tokens import SUBJECT_TYPES, Claims
from nimbill.database.tenant_scope import TenantScope, fetch_row
from nimbill.foundation.vocabulary import OF_THE_PORTAL_ALONE, Product, UserKind

_ADMIT = (
    "SELECT username, kind, root_user, credential_epoch, permissions, billing_groups,"
    " company_id, meta FROM load_caller($1, $2, $3, $4, $5)"
)

# finds the caller that a token names, and sets the transaction's organisation
CallerLoader = Callable[[AsyncConnection, Claims], Awaitable[Caller | None]]


async def caller_of(db: AsyncConnection, claims: Claims) -> Caller | None:
    """Sets the transaction's organisation too. None: deleted, changed, or never was."""
    row = await fetch_row(
        db,
        _ADMIT,
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
    narrowed = None if billing_groups is None or is_root else frozenset(billing_groups)
    if kind in OF_THE_PORTAL_ALONE:
        if company_id is None or claims.product != Product.portal:
            return None
        narrowed = frozenset({company_id})
    return Caller(
        user_id=claims.user_id,
        username=username,
        kind=UserKind(kind),
        root_user=root_user,
        client_id=claims.client_id,
        subject_type=claims.subject_type,
        product=claims.product,
        permissions=frozenset({RoleAction.Admin}) if is_root else frozenset(permissions),
        scope=TenantScope(claims.organisation_id, narrowed),
        epoch=credential_epoch,
        flags=meta,
    )


CALLER_LOADERS: Mapping[str, CallerLoader] = dict.fromkeys(SUBJECT_TYPES, caller_of)


_STANDS = sa.text(
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
    """Whether the credentials something was made with are still good."""
    asked = {
        "organisation": scope.organisation_id,
        "user": user_id,
        "client": client_id,
        "epoch": epoch,
    }
    return bool((await db.execute(_STANDS, asked)).scalar_one())
