"""The benchmark of portal pages: its data fit the tables, its statements return the same rows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.portal_pages import PAGES
from bench.suites.portal import ExamplePortal, fixed_time
from nimbill.database.embedded_postgres import Address
from tests.temporary_database import temporary_database


@pytest.fixture(scope="module")
def example(
    postgres: Address, superuser: Address, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ExamplePortal]:
    folder: Path = tmp_path_factory.mktemp("portal")
    with (
        temporary_database(postgres, superuser) as address,
        fixed_time(),
        ExamplePortal(address, folder, groups=2) as example,
    ):
        yield example


@pytest.mark.parametrize("page", PAGES)
def test_a_page_and_its_statement_return_the_same_digits(example: ExamplePortal, page: str) -> None:
    example.compare(PAGES[page])
