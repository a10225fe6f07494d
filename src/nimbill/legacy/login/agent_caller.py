"""The caller behind a token that was issued to the agent of a stack."""

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.caller import Caller
from nimbill.access.tokens import Claims
from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation.user_kind import UserKind
from nimbill.legacy.login import records
from nimbill.legacy.token_product import LEGACY


async def load_agent_caller(db: AsyncConnection, claims: Claims) -> Caller | None:
    """An agent has no user record: its user id is the stack's id, its name the stack's nickname.

    Like a subuser without roles it has no role actions. None if the stack is deleted.
    """
    if claims.product != LEGACY:
        return None
    scope = TenantScope(claims.organisation_id)
    nickname = await records.find_stack_nickname(db, scope, claims.user_id, claims.kid)
    if nickname is None:
        return None
    return Caller(
        user_id=claims.user_id,
        username=nickname,
        kind=UserKind.subuser,
        root_user=claims.user_id,
        client_id=claims.client_id,
        subject_type=claims.subject_type,
        product=claims.product,
        permissions=frozenset(),
        scope=scope,
        epoch=claims.epoch,
    )
