"""What commands do with a missing, older or newer database, and without the key file."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from nimbill.application.open_database import prepare_installation
from nimbill.database.embedded_postgres import Address
from tests.command_line import PASSWORD, build_environment, init_arguments
from tests.commands.declared_commands import READING_ARGUMENTS, build_arguments
from tests.commands.run_command import run_command
from tests.database.schema_catalogue import list_tables
from tests.proof.real_server import free_port
from tests.temporary_database import execute_sql

READING_COMMANDS = (
    ("keys", "list", "--json"),
    ("organisations", "list", "--json"),
    *(build_arguments(name, "org_x") for name in READING_ARGUMENTS),
)
WRITING_COMMANDS = (
    (*init_arguments(), "--json"),
    ("keys", "rotate", "--now"),
    build_arguments("import", "org_x"),
    build_arguments("invoice create", "org_x"),
    build_arguments("month close", "org_x"),
    ("serve", "--port", str(free_port())),
)


@pytest.fixture
def env(empty_database: Address, tmp_path: Path) -> dict[str, str]:
    """The environment of an installation whose database is still empty."""
    return build_environment(tmp_path / "data", NIMBILL_DATABASE_URL=empty_database.url)


def prepare(env: Mapping[str, str]) -> None:
    key_file = Path(env["NIMBILL_DATA"], "key")
    asyncio.run(prepare_installation(env["NIMBILL_DATABASE_URL"], key_file))


def test_reading_commands_create_no_tables_and_no_key(
    empty_database: Address, env: dict[str, str]
) -> None:
    for arguments in READING_COMMANDS:
        result = run_command(*arguments, env=env)

        assert result.returncode == 2, arguments
        assert "The database has no tables yet." in result.stderr
    assert list_tables(empty_database) == set()
    assert not Path(env["NIMBILL_DATA"]).exists()


def test_reading_commands_do_not_migrate_an_older_database(  # version 3
    empty_database: Address, env: dict[str, str]
) -> None:
    prepare(env)
    execute_sql(empty_database, "DELETE FROM alembic_version_legacy")

    for arguments in READING_COMMANDS:
        result = run_command(*arguments, env=env)

        assert result.returncode == 2, arguments
        assert "the schema of an older version of Nimbill" in result.stderr
    assert execute_sql(empty_database, "SELECT * FROM alembic_version_legacy") == []


def test_reading_commands_create_no_embedded_database(tmp_path: Path) -> None:
    data = tmp_path / "data"

    for arguments in READING_COMMANDS:
        result = run_command(*arguments, env=build_environment(data))

        assert result.returncode == 2, arguments
        assert f"There is no database in {data}." in result.stderr
    assert not data.exists()


def test_a_newer_database_is_refused_in_one_sentence(
    empty_database: Address, env: dict[str, str]
) -> None:
    prepare(env)
    execute_sql(empty_database, "UPDATE alembic_version SET version_num = '9999'")

    for arguments in READING_COMMANDS + WRITING_COMMANDS:
        result = run_command(*arguments, env=env, stdin=PASSWORD)

        assert result.returncode == 2, arguments
        assert result.stderr.startswith(
            "nimbill: The database was migrated by a newer version of Nimbill."
        )
        assert len(result.stderr.splitlines()) == 1
        if "--json" in arguments:
            assert list(json.loads(result.stdout)) == ["error"]


def test_a_missing_key_file_is_never_replaced_for_an_existing_database(
    env: dict[str, str],
) -> None:
    prepare(env)
    key_file = Path(env["NIMBILL_DATA"], "key")
    key_file.unlink()

    for arguments in READING_COMMANDS + WRITING_COMMANDS:
        result = run_command(*arguments, env=env, stdin=PASSWORD)

        assert result.returncode == 2, arguments
        assert f"The key file {key_file} is missing" in result.stderr
    assert not key_file.exists()
