"""`nimbill import` in real processes: its exit codes, its JSON, files and object stores."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from nimbill.database.embedded_postgres import Address
from tests.costs.object_store_server import CREDENTIALS, object_store
from tests.imports.small_files import CUSTOMER, cost, report, write
from tests.proof.real_server import environment_for, nimbill
from tests.running_service import Service


@dataclass
class Command:
    env: Mapping[str, str]
    organisation_id: str

    def __call__(self, *words: str) -> tuple[int, dict[str, Any]]:
        given = ["--vendor", "aws", "--organisation", self.organisation_id, "--json"]
        done = nimbill("import", *words, *given, env=self.env)
        assert done.stdout, done.stderr
        return done.returncode, json.loads(done.stdout)


@pytest.fixture
def command(service: Service, postgres: Address) -> Command:
    settings = {
        "NIMBILL_DATABASE_URL": postgres.url,
        "NIMBILL_KEY_FILE": str(service.settings.key_file),
    }
    env = {**environment_for(service.settings.data, settings), **CREDENTIALS}
    return Command(env, service.organisation.organisation_id)


def test_a_file_comes_in_once_and_a_broken_one_not_at_all(command: Command, tmp_path: Path) -> None:
    code, record = command(str(write(tmp_path / "a.csv", [cost("1.5"), cost("2")])))
    assert (code, record["state"], record["lines"]) == (0, "done", 2)
    assert record["accounts_in_no_group"] == [CUSTOMER]

    code, record = command(str(tmp_path / "a.csv"))
    assert (code, record["state"]) == (0, "unchanged")

    code, record = command(str(write(tmp_path / "b.csv", [cost("1.234,56")])))
    assert (code, record["state"]) == (2, "refused")
    assert record["problem"]["line"] == 2
    assert record["problem"]["column"] == "lineItem/UnblendedCost"


def test_what_people_read_says_what_happened(command: Command, tmp_path: Path) -> None:
    file = write(tmp_path / "a.csv", [cost("1", LineItemType="Surprise"), cost("2", InvoiceId="")])

    done = nimbill(
        *("import", str(file), "--vendor", "aws", "--organisation", command.organisation_id),
        env=command.env,
    )

    assert done.returncode == 0, done.stderr
    assert "done: aws 2026-09, 2 lines in" in done.stdout
    assert "a second" in done.stdout
    assert "unknown line types, billed to nobody: Surprise (1)" in done.stdout
    assert "provisional" in done.stdout
    assert "1 accounts in no billing group" in done.stdout


@pytest.mark.parametrize(
    "words",
    [
        ("--organisation", "org_nobody"),
        ("--month", "2026-13"),
        ("--vendor", "oracle"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    command: Command, tmp_path: Path, words: tuple[str, str]
) -> None:
    given = {"--vendor": "aws", "--organisation": command.organisation_id} | dict([words])
    flags = [word for pair in given.items() for word in pair]

    done = nimbill("import", str(write(tmp_path / "a.csv", [])), *flags, env=command.env)

    assert done.returncode != 0
    assert done.stderr + done.stdout


def test_a_prefix_of_an_object_store(command: Command) -> None:
    with object_store() as store:
        bucket = store.bucket("bills")
        store.put(bucket, "cur/september.csv", report([cost("3.25")]))

        code, record = command(store.address("bills/cur"))

    assert (code, record["state"]) == (0, "done"), record
    assert [total["cost"] for total in record["totals"]] == [3.25]
