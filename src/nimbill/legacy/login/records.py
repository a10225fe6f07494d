"""Look-up of the stack that an agent names, at login and in front of every request."""

from pathlib import Path
from typing import NamedTuple

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import TenantScope, fetch_row

_FIND_AGENT, _LOAD_AGENT = (
    Path(__file__).with_name(name).read_text() for name in ("find_agent.sql", "load_agent.sql")
)


class FoundAgent(NamedTuple):
    """A stack that is not deleted, and the key that signs now.

    `organisation_id` and `token_hash` are None if there is no such stack.
    """

    organisation_id: str
    token_hash: bytes | None
    kid: str


async def find_agent(db: AsyncConnection, stack_id: str) -> FoundAgent:
    """Sets the transaction's organisation to that of the stack."""
    return FoundAgent(*await fetch_row(db, _FIND_AGENT, stack_id))


async def find_stack_nickname(
    db: AsyncConnection, scope: TenantScope, stack_id: str, kid: str
) -> str | None:
    """The name of a stack that is not deleted; None if it is, or if the key was dropped.

    Sets the transaction's organisation.
    """
    row = await fetch_row(db, _LOAD_AGENT, scope.organisation_id, stack_id, kid)
    return None if row is None else row[0]
