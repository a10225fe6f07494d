"""`nimbill backup` and `restore` with an embedded database and a lake in an object store.

Each installation starts a database server of its own, which takes several seconds.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from nimbill.database.embedded_postgres import embedded_postgres
from tests.commands.installations import BilledMonth, fill_service
from tests.commands.run_command import run_command
from tests.costs.object_store_server import CREDENTIALS, ObjectStore, object_store
from tests.invoicing.month_end import MonthEnd
from tests.proof.real_server import environment_for
from tests.running_service import Service, running_service


@dataclass(frozen=True)
class EmbeddedInstallation:
    """A data folder with its own database server, and a lake in a bucket or in that folder."""

    data: Path
    settings: Mapping[str, str]

    def run(self, *arguments: str | Path) -> tuple[int, str]:
        """Return the exit code, and what was printed."""
        env = environment_for(self.data, self.settings)
        result = run_command(*map(str, arguments), env=env)
        return result.returncode, result.stdout or result.stderr

    def run_json(self, *arguments: str | Path) -> tuple[int, Any]:
        code, output = self.run(*arguments, "--json")
        return code, json.loads(output)

    @contextmanager
    def start(self) -> Iterator[Service]:
        with (
            embedded_postgres(self.data / "postgres") as address,
            running_service(address.url, self.data, **self.settings) as service,
        ):
            yield service


@pytest.fixture(scope="module")
def store() -> Iterator[ObjectStore]:
    with pytest.MonkeyPatch.context() as patch, object_store() as server:
        for name, value in CREDENTIALS.items():
            patch.setenv(name, value)
        yield server


@pytest.fixture(scope="module")
def source(store: ObjectStore, tmp_path_factory: pytest.TempPathFactory) -> EmbeddedInstallation:
    address = store.address(f"{store.bucket('source')}/lake")
    return EmbeddedInstallation(
        tmp_path_factory.mktemp("source") / "data", {"NIMBILL_LAKE_URL": address}
    )


@pytest.fixture(scope="module")
def billed(source: EmbeddedInstallation, tmp_path_factory: pytest.TempPathFactory) -> BilledMonth:
    with source.start() as service:
        return fill_service(service, tmp_path_factory.mktemp("costs"))


@pytest.fixture(scope="module")
def saved(
    source: EmbeddedInstallation, billed: BilledMonth, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The folder of a backup; the key is beside it."""
    folder = tmp_path_factory.mktemp("backups") / "backup"
    code, summary = source.run_json("backup", folder, "--key", folder.with_name("key"))
    assert (code, summary["lake_files"], summary["missing_lake_files"]) == (0, 1, [])
    return folder


@pytest.mark.parametrize("lake", ["bucket", "folder"])
def test_a_backup_is_restored_into_an_embedded_database(
    store: ObjectStore, billed: BilledMonth, saved: Path, tmp_path: Path, lake: str
) -> None:
    settings = {}
    if lake == "bucket":
        settings["NIMBILL_LAKE_URL"] = store.address(f"{store.bucket('target')}/lake")
    target = EmbeddedInstallation(tmp_path / "data", settings)

    code, output = target.run("restore", saved, "--key", saved.with_name("key"))

    assert code == 0, output
    organisation = ("--organisation", billed.organisation.organisation_id)
    code, verified = target.run_json("lake", "verify", *organisation)
    assert (code, verified["intact"], verified["files"]) == (0, True, 1)
    with target.start() as service:
        headers = service.root(billed.organisation)
        invoice = MonthEnd(service, tmp_path).get_invoice(billed.company_id, headers)
    assert invoice == billed.invoice
    assert target.run("audit", "verify", *organisation)[0] == 0


def test_a_bucket_that_is_not_empty_is_refused_and_left_alone(
    store: ObjectStore, saved: Path, tmp_path: Path
) -> None:
    bucket = store.bucket("occupied")
    store.put(bucket, "lake/notes", b"keep")
    target = EmbeddedInstallation(
        tmp_path / "data", {"NIMBILL_LAKE_URL": store.address(f"{bucket}/lake")}
    )

    code, output = target.run("restore", saved, "--key", saved.with_name("key"))

    assert (code, "is not empty" in output) == (2, True)
    assert not (tmp_path / "data").exists()
    assert len(store.client.list_objects_v2(Bucket=bucket)["Contents"]) == 1


def test_a_missing_bucket_is_named_in_one_sentence(
    store: ObjectStore, saved: Path, tmp_path: Path
) -> None:
    target = EmbeddedInstallation(
        tmp_path / "data", {"NIMBILL_LAKE_URL": store.address("no-such-bucket/lake")}
    )

    code, output = target.run("restore", saved, "--key", saved.with_name("key"))

    assert code == 2, output
    assert "The bucket no-such-bucket" in output
    assert len(output.splitlines()) == 1


def test_an_object_missing_in_the_lake_is_named_and_the_rest_is_saved(
    store: ObjectStore, source: EmbeddedInstallation, saved: Path, tmp_path: Path
) -> None:
    (entry,) = store.client.list_objects_v2(Bucket="source")["Contents"]
    content = store.client.get_object(Bucket="source", Key=entry["Key"])["Body"].read()
    store.client.delete_object(Bucket="source", Key=entry["Key"])
    try:
        code, summary = source.run_json("backup", tmp_path / "backup")
    finally:
        store.put("source", entry["Key"], content)

    assert code == 1
    assert summary["missing_lake_files"] == [entry["Key"].removeprefix("lake/")]
    assert summary["rows"] > 0
