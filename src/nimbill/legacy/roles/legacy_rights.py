"""The rights of version 3 for the rest of the product: compares them and passes them on."""

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.caller import Caller
from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation import clock
from nimbill.foundation.ids import new_id
from nimbill.foundation.user_kind import UserKind
from nimbill.legacy.roles import records
from nimbill.legacy.roles.role_templates import DEFAULT_SCOPE
from nimbill.legacy.roles.scope_comparison import scopes_cover

# See docs/choices.md, default-scope.

WITH_ACCESS = (UserKind.root, UserKind.subuser)  # other users have portal tokens only


class LegacyRights:
    """Implements ExtensionRights of `nimbill.access`."""

    async def cover(
        self, db: AsyncConnection, caller: Caller, user_id: str, kind: UserKind
    ) -> bool:
        if caller.kind is UserKind.root or kind not in WITH_ACCESS:
            return True
        if kind is UserKind.root or caller.kind not in WITH_ACCESS:
            return False
        return scopes_cover(
            await load_scope_documents(db, caller.scope, caller.user_id),
            await load_scope_documents(db, caller.scope, user_id),
        )

    async def grant_to_new_user(self, db: AsyncConnection, creator: Caller, user_id: str) -> None:
        """The user starts with the creator's roles; without roles it has the default scope."""
        for role in await records.list_roles_of_user(db, creator.scope, creator.user_id):
            if await records.lock_role(db, creator.scope, role.role_id):
                await records.attach_role(
                    db,
                    creator.scope,
                    user_role_id=new_id("uro"),
                    user_id=user_id,
                    role_id=role.role_id,
                    at=clock.now(),
                )


async def load_scope_documents(db: AsyncConnection, scope: TenantScope, user_id: str) -> list[str]:
    """The scopes of a user's roles; a user without a role has the default scope."""
    roles = await records.list_roles_of_user(db, scope, user_id)
    return [role.scope for role in roles] or [DEFAULT_SCOPE]
