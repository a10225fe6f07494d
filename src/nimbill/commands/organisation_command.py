"""Runs a command for the organisation that its option names, by id or by name."""

from collections.abc import Awaitable, Callable, Coroutine
from typing import Annotated, Any, TypeVar

from cyclopts import Parameter
from sqlalchemy.ext.asyncio import AsyncEngine

from nimbill.application.command_transaction import (
    CommandTransaction,
    require_organisation,
    run_in_transaction,
)
from nimbill.application.installed import load_settings
from nimbill.application.open_database import run_with_engine
from nimbill.commands.console import progress_bar
from nimbill.database.tenant_scope import TenantScope

T = TypeVar("T")

Organisation = Annotated[str, Parameter(help="Id or name of the organisation.")]


def run_command(
    name: str, organisation: str, operation: Callable[[CommandTransaction], Awaitable[T]]
) -> T:
    """Run an operation in one transaction; `name` is shown in the audit log."""
    with progress_bar(f"nimbill {name}"):
        return run_with_engine(
            load_settings(),
            lambda engine, _: run_in_transaction(engine, organisation, name, operation),
        )


def run_with_scope(
    organisation: str, operation: Callable[[AsyncEngine, TenantScope], Coroutine[Any, Any, T]]
) -> T:
    """Run an operation that opens its own transactions."""

    async def run(engine: AsyncEngine, _: object) -> T:
        found = await require_organisation(engine, organisation)
        return await operation(engine, TenantScope(found.organisation_id))

    return run_with_engine(load_settings(), run)
