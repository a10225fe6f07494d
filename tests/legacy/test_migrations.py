"""Version 3 has migrations of its own, so that it can be removed from the code."""

from __future__ import annotations

import asyncio

from nimbill.application.schema import MIGRATIONS
from nimbill.database.embedded_postgres import Address
from nimbill.database.migrate import PRODUCT_MIGRATIONS, migrate
from nimbill.legacy.migrations import LEGACY_MIGRATIONS
from tests.database.schema_catalogue import is_current, list_functions, list_tables


def test_without_version_3_only_the_product_is_created(empty_database: Address) -> None:
    asyncio.run(migrate(empty_database.url, [PRODUCT_MIGRATIONS]))

    assert is_current(empty_database, [PRODUCT_MIGRATIONS])
    assert not is_current(empty_database, [LEGACY_MIGRATIONS])
    assert not [name for name in list_tables(empty_database) if "legacy" in name]
    assert not list_functions(empty_database) & {"find_agent", "load_agent_caller"}


def test_an_existing_database_still_migrates_without_version_3(empty_database: Address) -> None:
    asyncio.run(migrate(empty_database.url, MIGRATIONS))
    tables = list_tables(empty_database)

    asyncio.run(migrate(empty_database.url, [PRODUCT_MIGRATIONS]))

    assert is_current(empty_database, [PRODUCT_MIGRATIONS])
    assert list_tables(empty_database) == tables
