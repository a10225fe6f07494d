"""A database that a suite fills, and its connections."""

import asyncio
from abc import ABC, abstractmethod
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Self

from sqlalchemy.ext.asyncio import AsyncEngine

from bench.example_month import connect
from nimbill.access.caller import Caller
from nimbill.access.role_actions import RoleAction
from nimbill.application.open_database import prepare_database
from nimbill.database.embedded_postgres import Address
from nimbill.database.tenant_scope import TenantScope, create_app_engine
from nimbill.foundation.encryption import load_or_create_key
from nimbill.foundation.product import Product
from nimbill.foundation.user_kind import UserKind
from nimbill.identity.organisations.operations import NewOrganisation


class ExampleDatabase(ABC):
    """Is filled when it is entered; leaving it closes its connections."""

    def __init__(self, address: Address, folder: Path) -> None:
        self._address, self._folder = address, folder
        self._key = load_or_create_key(folder / "key")
        self._runner = asyncio.Runner()
        self._opened = AsyncExitStack()
        self._engine: AsyncEngine

    def __enter__(self) -> Self:
        self._runner.run(self._prepare())
        return self

    def __exit__(self, *_error: object) -> None:
        self._runner.run(self._opened.aclose())
        self._runner.close()

    async def _prepare(self) -> None:
        await prepare_database(self._address.url, self._key)
        self._engine = self._open_engine()
        await self._fill()

    @abstractmethod
    async def _fill(self) -> None:
        """Create an organisation and its records."""

    def _open_engine(self) -> AsyncEngine:
        engine = create_app_engine(self._address.url)
        self._opened.push_async_callback(engine.dispose)
        return engine

    async def _open_connection(self, address: Address) -> Any:
        """A connection of the driver, without anything of the service."""
        connection = await connect(address)
        self._opened.push_async_callback(connection.close)
        return connection


def build_root_caller(created: NewOrganisation) -> Caller:
    return Caller(
        user_id=created.root_user_id,
        username="root",
        kind=UserKind.reseller,
        root_user=created.root_user_id,
        client_id="",
        subject_type="user",
        product=Product.core,
        permissions=frozenset({RoleAction.Admin}),
        scope=TenantScope(created.organisation_id),
        epoch=1,
    )
