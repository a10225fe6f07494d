"""What an optional part of the API adds to the application.

The packages below `application` do not know which extensions exist: they ask for products,
caller loaders and so on, and the application passes those of every installed extension.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from nimbill.access.credentials import CallerLoader
from nimbill.access.extension_rights import ExtensionRights
from nimbill.access.tokens import TokenIssuer
from nimbill.database.migrate import MigrationPackage
from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation.encryption import Encryptor
from nimbill.foundation.product import Product
from nimbill.foundation.settings import Settings
from nimbill.http.deprecation import Deprecation
from nimbill.http.response_links import ResponseLinks
from nimbill.jobs.runner import JobType

if TYPE_CHECKING:
    from litestar import Litestar
    from litestar.types import ControllerRouterHandler


@dataclass(frozen=True, slots=True)
class Extension:
    products: Sequence[Product]
    setting_names: Collection[str]  # the variables that it reads
    # reads the extension's own settings; SettingsError if one is invalid
    issuers: Callable[[Settings], Mapping[Product, TokenIssuer]]
    caller_loaders: Mapping[str, CallerLoader]  # by subject type
    rights: ExtensionRights  # compared wherever the rights of two users are compared
    route_handlers: Callable[[], Sequence[ControllerRouterHandler]]
    check_routes: Callable[[Litestar], None]  # RuntimeError for a route that must not be served
    job_types: Callable[[Settings, AsyncEngine, Encryptor], Sequence[JobType]]
    deprecations: Sequence[Deprecation]
    links: ResponseLinks  # between its operations in the OpenAPI document
    tables: Callable[[], Sequence[sa.Table]]  # that its routes use
    migrations: Sequence[MigrationPackage]  # of these tables
    # why the organisation cannot be deleted yet, or None
    find_deletion_obstacle: Callable[[AsyncConnection, TenantScope], Awaitable[str | None]]
