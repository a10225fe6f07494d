"""The one query in front of every request: is the caller alive, and what may it do."""

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.caller import Caller
from nimbill.access.role_actions import RoleAction
from nimbill.access.tokens import Claims
from nimbill.storage import Scope
from nimbill.vocabulary import UserKind

_ADMIT = sa.text(
    "SELECT username, kind, root_user, credential_epoch, permissions, billing_groups"
    " FROM admit(:organisation, :caller, :client, :audience, :key)"
).columns(
    # named, so that the shape of the answer is worked out once and not for every request
    *map(
        sa.column,
        ("username", "kind", "root_user", "credential_epoch", "permissions", "billing_groups"),
    )
)


async def caller_of(db: AsyncConnection, claims: Claims) -> Caller | None:
    """Sets the transaction's organisation too. None: deleted, changed, or never was."""
    found = await db.execute(
        _ADMIT,
        {
            "organisation": claims.organisation_id,
            "caller": claims.user_id,
            "client": claims.client_id,
            "audience": claims.product.value,
            "key": claims.kid,
        },
    )
    row = found.one_or_none()
    if row is None or row.credential_epoch != claims.epoch:
        return None
    kind = UserKind(row.kind)
    is_root = kind is UserKind.root
    narrowed = None if row.billing_groups is None or is_root else frozenset(row.billing_groups)
    return Caller(
        user_id=claims.user_id,
        username=row.username,
        kind=kind,
        root_user=row.root_user,
        client_id=claims.client_id,
        product=claims.product,
        permissions=frozenset({RoleAction.Admin}) if is_root else frozenset(row.permissions),
        scope=Scope(claims.organisation_id, narrowed),
    )
