"""However a command fails: one JSON object with --json, the cause, no secret and no traceback."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import sqlalchemy as sa

from nimbill.commands import keys
from nimbill.costs.lake.lake_error import LakeError
from nimbill.database.embedded_postgres import Address
from tests.command_line import (
    PASSWORD,
    SECONDS_MAX,
    build_environment,
    init_arguments,
    start_command,
    wait_until,
)
from tests.commands.run_command import run_command, service_environment
from tests.costs.object_store_server import CREDENTIALS, ObjectStore, object_store
from tests.imports.aws_reports import report_line, write_report
from tests.proof.real_server import ROOT
from tests.running_service import Service
from tests.temporary_database import execute_sql, temporary_database

SMTP_SECRET = "canary-of-the-mail-server"
FILE_BYTES_MAX = 1_000


@pytest.fixture(scope="module")
def store() -> Iterator[ObjectStore]:
    with object_store() as store:
        yield store


@pytest.fixture
def report(tmp_path: Path) -> Path:
    return write_report(tmp_path / "september.csv", [report_line("1.5")])


@dataclass(frozen=True)
class FailingInstallation:
    """A database that no server uses, so that the command runs its own jobs."""

    env: Mapping[str, str]
    data: Path
    database: Address
    organisation_id: str

    def import_arguments(self, source: object) -> list[str]:
        options = ["--vendor", "aws", "--organisation", self.organisation_id, "--json"]
        return ["import", str(source), *options]


@pytest.fixture
def installation(
    postgres: Address, superuser: Address, tmp_path: Path
) -> Iterator[FailingInstallation]:
    data = tmp_path / "data"
    settings = {"NIMBILL_SMTP_URL": f"smtp://mailer:{SMTP_SECRET}@127.0.0.1:2525", **CREDENTIALS}
    with temporary_database(postgres, superuser) as address:
        env = build_environment(data, NIMBILL_DATABASE_URL=address.url, **settings)
        created = run_command(*init_arguments(), "--json", env=env, stdin=PASSWORD)
        organisation_id = json.loads(created.stdout)["organisation_id"]
        yield FailingInstallation(
            env, data, replace(superuser, database=address.database), organisation_id
        )


def run_process(
    *arguments: str, env: Mapping[str, str], prepare: Callable[[], None] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the real command; `prepare` is called in its process before it starts."""
    return subprocess.run(
        [sys.executable, "-m", "nimbill", *arguments],
        env={**env, "PYTHONDONTWRITEBYTECODE": "1"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        check=False,
        preexec_fn=prepare,  # no threads are running in the child
    )


def read_only_object(result: subprocess.CompletedProcess[str], env: Mapping[str, str]) -> Any:
    """Return the object on standard output after the checks that apply to every failure."""
    assert result.returncode == 2, (result.stdout, result.stderr)
    for text in (result.stdout, result.stderr):
        assert "Traceback" not in text
        assert SMTP_SECRET not in text
        assert str(sa.make_url(env["NIMBILL_DATABASE_URL"]).password) not in text
    assert result.stdout.count("\n") == 1
    printed = json.loads(result.stdout)
    assert isinstance(printed, dict)
    return printed


def limit_file_size() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES_MAX, FILE_BYTES_MAX))


# Takes several seconds: the command and its child process are real.
def test_a_full_disk_is_named(installation: FailingInstallation, report: Path) -> None:
    arguments = installation.import_arguments(report)

    result = run_process(*arguments, env=installation.env, prepare=limit_file_size)

    record = read_only_object(result, installation.env)
    assert record["state"] == "failed"
    assert "No space left on the disk of the data folder" in record["problem"]["detail"]
    assert str(installation.data) in result.stderr


# Takes several seconds: the command and its child process are real.
def test_a_missing_bucket_is_named(installation: FailingInstallation, store: ObjectStore) -> None:
    arguments = installation.import_arguments(store.address("no-such-bills/cur"))

    record = read_only_object(run_process(*arguments, env=installation.env), installation.env)

    assert (record["state"], record["problem"]["code"]) == ("refused", "source_missing")
    assert record["problem"]["detail"] == "The bucket no-such-bills does not exist."


# Takes several seconds: the command and its child process are real.
def test_a_missing_bucket_of_the_lake_is_named(
    installation: FailingInstallation, store: ObjectStore, report: Path
) -> None:
    env = {**installation.env, "NIMBILL_LAKE_URL": store.address("no-such-lake/costs")}

    result = run_process(*installation.import_arguments(report), env=env)

    record = read_only_object(result, env)
    assert record["state"] == "failed"
    assert "The bucket no-such-lake of the lake does not exist." in record["problem"]["detail"]


# Takes several seconds: the command and its child process are real.
def test_an_unreadable_file_is_named(installation: FailingInstallation) -> None:
    arguments = installation.import_arguments("/proc/self/mem")  # no user can read its beginning

    record = read_only_object(run_process(*arguments, env=installation.env), installation.env)

    assert (record["state"], record["problem"]["code"]) == ("refused", "source_unreadable")
    assert record["problem"]["file"] == "mem"


# Takes several seconds: the command is real.
def test_an_unreachable_database_is_named(tmp_path: Path, report: Path) -> None:
    address = "postgresql://someone:canary@127.0.0.1:1/nimbill"
    env = build_environment(tmp_path / "data", NIMBILL_DATABASE_URL=address)
    arguments = ["import", str(report), "--vendor", "aws", "--organisation", "org_x", "--json"]

    printed = read_only_object(run_process(*arguments, env=env), env)

    assert printed["error"]["code"] == "refused"
    assert "Cannot use the database at 127.0.0.1" in printed["error"]["detail"]


# Takes several seconds: the command and its child process are real.
def test_a_database_that_goes_away_during_the_import_is_named(
    installation: FailingInstallation, superuser: Address, report: Path, tmp_path: Path
) -> None:
    arguments, env = installation.import_arguments(report), installation.env
    process = start_command(*arguments, env=env, cwd=tmp_path)
    is_running = "SELECT FROM cost_imports WHERE state = 'running'"
    wait_until(
        lambda: bool(execute_sql(installation.database, is_running)),
        "the import did not start",
        pause=0.02,
    )
    name = installation.database.database
    execute_sql(superuser, f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
    end_connections = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1"
    execute_sql(superuser, end_connections, name)

    output, errors = process.communicate(timeout=SECONDS_MAX)

    result = subprocess.CompletedProcess(arguments, process.returncode, output, errors)
    assert read_only_object(result, env)["error"]["code"] == "database_failed"
    assert "The database cannot be used: " in errors


def test_refusals_are_one_json_object_and_one_sentence(service: Service) -> None:
    env = service_environment(service)

    result = run_command("audit", "verify", "--organisation", "org_x", "--json", env=env)

    assert read_only_object(result, env)["error"] == {
        "code": "not_found",
        "detail": "The record does not exist.",
        "violations": [],
    }
    assert result.stderr == "nimbill: The record does not exist.\n"


def test_broken_rules_are_listed_in_the_object(service: Service) -> None:
    env = service_environment(service)
    arguments = ("tie-out", "2026-13", "--organisation", service.organisation.organisation_id)

    result = run_command(*arguments, "--json", env=env)

    (violation,) = read_only_object(result, env)["error"]["violations"]
    assert violation["field"] == "month"


def test_invalid_arguments_are_one_json_object(service: Service) -> None:
    env = service_environment(service)

    result = run_command("keys", "list", "--no-such-option", "--json", env=env)

    assert read_only_object(result, env)["error"]["code"] == "invalid_arguments"
    assert "--no-such-option" in result.stderr


def test_the_cause_of_an_error_of_the_lake_is_the_whole_sentence(service: Service) -> None:
    error = LakeError(None, "The object store of the lake does not respond.")
    with patch.object(keys, "list_keys", side_effect=error):
        result = run_command("keys", "list", "--json", env=service_environment(service))

    assert result.returncode == 2
    assert json.loads(result.stdout)["error"]["code"] == "system_error"
    assert result.stderr == "nimbill: The object store of the lake does not respond.\n"


@pytest.mark.parametrize(
    ("error", "exit_code", "code"),
    [(KeyboardInterrupt, 130, "interrupted"), (RuntimeError("canary"), 70, "unexpected")],
)
def test_every_other_end_is_one_json_object_too(
    service: Service, error: Exception, exit_code: int, code: str
) -> None:
    with patch.object(keys, "list_keys", side_effect=error):
        result = run_command("keys", "list", "--json", env=service_environment(service))

    assert result.returncode == exit_code
    assert result.stdout.count("\n") == 1
    assert json.loads(result.stdout)["error"]["code"] == code
    assert "Traceback" not in result.stderr
    assert "canary" not in result.stderr + result.stdout
