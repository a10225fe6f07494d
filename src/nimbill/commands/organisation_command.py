"""Runs a command for the organisation that its option names, by id or by name."""

from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from cyclopts import Parameter
from sqlalchemy.ext.asyncio import AsyncEngine

from nimbill.application.command_transaction import CommandTransaction, run_in_transaction
from nimbill.application.named_organisation import NamedOrganisation, find_organisation
from nimbill.application.open_database import run_with_database
from nimbill.commands.command_settings import load_command_settings
from nimbill.commands.console import progress_bar
from nimbill.database.tenant_scope import TenantScope, create_app_engine
from nimbill.foundation.encryption import Encryptor
from nimbill.foundation.settings import Settings

T = TypeVar("T")

Organisation = Annotated[str, Parameter(help="Id or name of the organisation.")]


@dataclass(frozen=True, slots=True)
class OrganisationAccess:
    """What a command needs that opens its own transactions."""

    engine: AsyncEngine
    encryptor: Encryptor
    organisation: NamedOrganisation

    @property
    def scope(self) -> TenantScope:
        return self.organisation.scope


Operation = Callable[[CommandTransaction], Awaitable[T]]


def run_reading(name: str, organisation: str, operation: Operation[T]) -> T:
    """Run an operation that changes nothing in one transaction."""
    return _run_in_transaction(name, organisation, operation, changes=False)


def run_changing(name: str, organisation: str, operation: Operation[T]) -> T:
    """Run an operation in one transaction; `name` is shown in the audit log."""
    return _run_in_transaction(name, organisation, operation, changes=True)


def _run_in_transaction(
    name: str, organisation: str, operation: Operation[T], *, changes: bool
) -> T:
    with progress_bar(f"nimbill {name}"):
        return run_for_organisation(
            load_command_settings(),
            organisation,
            lambda access: run_in_transaction(access.engine, access.organisation, name, operation),
            changes=changes,
        )


def run_for_organisation(
    settings: Settings,
    organisation: str,
    operation: Callable[[OrganisationAccess], Coroutine[Any, Any, T]],
    *,
    changes: bool,
) -> T:
    """Run an operation that opens its own transactions.

    A command that changes nothing neither creates nor migrates the database.
    """

    async def run(url: str, encryptor: Encryptor) -> T:
        found = await find_organisation(url, organisation)
        engine = create_app_engine(url)
        try:
            return await operation(OrganisationAccess(engine, encryptor, found))
        finally:
            await engine.dispose()

    return run_with_database(settings, run, migrates=changes)
