"""The one query in front of every request: is the caller alive, and what may it do."""

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.caller import Caller
from nimbill.access.role_actions import RoleAction
from nimbill.access.tokens import Claims
from nimbill.storage import Scope, ask_driver
from nimbill.vocabulary import UserKind

_ADMIT = (
    "SELECT username, kind, root_user, credential_epoch, permissions, billing_groups"
    " FROM admit($1, $2, $3, $4, $5)"
)


async def caller_of(db: AsyncConnection, claims: Claims) -> Caller | None:
    """Sets the transaction's organisation too. None: deleted, changed, or never was."""
    row = await ask_driver(
        db,
        _ADMIT,
        claims.organisation_id,
        claims.user_id,
        claims.client_id,
        claims.product.value,
        claims.kid,
    )
    if row is None:
        return None
    username, kind, root_user, credential_epoch, permissions, billing_groups = row
    if credential_epoch != claims.epoch:
        return None
    is_root = kind == UserKind.root
    narrowed = None if billing_groups is None or is_root else frozenset(billing_groups)
    return Caller(
        user_id=claims.user_id,
        username=username,
        kind=UserKind(kind),
        root_user=root_user,
        client_id=claims.client_id,
        product=claims.product,
        permissions=frozenset({RoleAction.Admin}) if is_root else frozenset(permissions),
        scope=Scope(claims.organisation_id, narrowed),
    )
