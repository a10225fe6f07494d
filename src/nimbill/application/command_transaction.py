"""Runs operations of the command line in a transaction of one organisation, with audit rows."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from nimbill.application.named_organisation import NamedOrganisation
from nimbill.audit import records as audit
from nimbill.database.tenant_scope import TenantScope, transaction
from nimbill.foundation.ids import new_id
from nimbill.identity.users.records import find_root_user

# See docs/choices.md, command-line.

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class CommandTransaction:
    """The transaction of a command. The root user is the actor of its audit rows."""

    db: AsyncConnection
    scope: TenantScope
    organisation: NamedOrganisation
    actor: dict[str, Any]

    async def audit(
        self, action: str, resource: str, sent: Any = None, company_id: str | None = None
    ) -> None:
        """Append an audit row like that of the same change over HTTP. Call it last."""
        await audit.append_entry(
            self.db,
            actor=self.actor["actor"],
            actor_name=self.actor["actor_name"],
            request_id=self.actor["request_id"],
            action=action,
            resource=resource,
            company_id=company_id,
            sent=sent,
        )


async def run_in_transaction(
    engine: AsyncEngine,
    organisation: NamedOrganisation,
    command: str,
    operation: Callable[[CommandTransaction], Awaitable[T]],
) -> T:
    """Run the operation. Its changes and audit rows are committed together, or not at all."""
    scope = organisation.scope
    async with transaction(engine, organisation.organisation_id) as db:
        root_user = await find_root_user(db, scope)
        assert root_user is not None, "every organisation has a root user"
        actor = {
            "actor": root_user,
            "actor_name": f"nimbill {command}",
            "request_id": new_id("cmd"),
        }
        return await operation(CommandTransaction(db, scope, organisation, actor))
