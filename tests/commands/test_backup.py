"""`nimbill backup` and `nimbill restore`: backups are complete, verified and restored unchanged."""

from __future__ import annotations

import hashlib
import json
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from nimbill.database.embedded_postgres import Address
from tests.commands.installations import (
    BilledMonth,
    Installation,
    empty_installation,
    fill_installation,
)
from tests.invoicing.month_end import MonthEnd
from tests.running_service import running_service
from tests.temporary_database import execute_sql


@pytest.fixture(scope="module")
def source(
    postgres: Address, superuser: Address, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Installation]:
    data = tmp_path_factory.mktemp("source") / "data"
    with empty_installation(postgres, superuser, data) as installation:
        yield installation


@pytest.fixture(scope="module")
def billed(source: Installation, tmp_path_factory: pytest.TempPathFactory) -> BilledMonth:
    return fill_installation(source, tmp_path_factory.mktemp("costs"))


@pytest.fixture(scope="module")
def saved(
    source: Installation, billed: BilledMonth, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The folder of a backup; the key is beside it."""
    folder = tmp_path_factory.mktemp("backups") / "backup"
    result = source.run("backup", folder, "--key", folder.with_name("key"))
    assert result.returncode == 0, result.stderr
    return folder


@pytest.fixture
def target(postgres: Address, superuser: Address, tmp_path: Path) -> Iterator[Installation]:
    with empty_installation(postgres, superuser, tmp_path / "data") as installation:
        yield installation


def restore(target: Installation, folder: Path, key: Path) -> tuple[int, str]:
    result = target.run("restore", folder, "--key", key)
    return result.returncode, result.stderr


def list_content(folder: Path) -> list[str]:
    return sorted(
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()
    )


# ── round trip ───────────────────────────────────────────────────────────────────────────────────


def test_a_restored_backup_has_the_same_rows_invoices_files_and_audit_log(
    source: Installation, billed: BilledMonth, saved: Path, target: Installation, tmp_path: Path
) -> None:
    code, restored = target.run_json("restore", saved, "--key", saved.with_name("key"))

    assert (code, len(restored["organisations"]), restored["lake_files"]) == (0, 2, 1)
    assert restored["missing_lake_files"] == []
    rows = source.read_rows()
    versions = 2  # the schema's, which are not rows of the backup
    assert restored["rows"] == sum(map(len, rows.values())) - versions
    assert target.read_rows() == rows
    for table in ("signing_keys", "organisations", "invoice_revisions", "cost_sums", "audit_log"):
        assert rows[table], table
    assert len(rows["organisations"]) == 2
    for folder in ("lake", "audit"):
        assert list_content(target.data / folder) == list_content(source.data / folder) != []
    organisation = ("--organisation", billed.organisation.organisation_id)
    code, log = target.run_json("audit", "verify", *organisation)
    assert (code, log["intact"], log["checkpoints"]) == (0, True, 1)
    code, lake = target.run_json("lake", "verify", *organisation)
    assert (code, lake["intact"], lake["files"]) == (0, True, 1)
    with running_service(target.database.url, target.data) as service:
        headers = service.root(billed.organisation)
        assert MonthEnd(service, tmp_path).get_invoice(billed.company_id, headers) == billed.invoice


def test_row_security_applies_after_a_restore(
    billed: BilledMonth, saved: Path, target: Installation
) -> None:
    restore(target, saved, saved.with_name("key"))

    unforced = execute_sql(
        target.database,
        "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace "
        "AND relkind = 'r' AND relrowsecurity AND NOT relforcerowsecurity",
    )

    assert unforced == []
    assert execute_sql(target.database, "SELECT * FROM organisations") == []


# ── writing ──────────────────────────────────────────────────────────────────────────────────────


def test_a_backup_is_private_and_does_not_contain_the_key(
    source: Installation, saved: Path
) -> None:
    key = (source.data / "key").read_bytes()

    assert stat.S_IMODE(saved.stat().st_mode) == 0o700
    assert "key" not in {Path(name).name for name in list_content(saved)}
    assert all(key.strip() not in (saved / name).read_bytes() for name in list_content(saved))
    assert saved.with_name("key").read_bytes() == key
    assert stat.S_IMODE(saved.with_name("key").stat().st_mode) == 0o400


def test_the_summary_counts_what_was_saved(
    source: Installation, billed: BilledMonth, tmp_path: Path
) -> None:
    code, summary = source.run_json("backup", tmp_path / "backup")

    assert code == 0
    assert (summary["organisations"], summary["lake_files"]) == (2, 1)
    assert summary["missing_lake_files"] == []
    assert not (tmp_path / "key").exists()


@pytest.mark.parametrize("key", ["backup/key", "existing"])
def test_a_key_in_the_backup_or_over_a_file_is_refused(
    source: Installation, billed: BilledMonth, tmp_path: Path, key: str
) -> None:
    (tmp_path / "existing").write_text("something else")

    result = source.run("backup", tmp_path / "backup", "--key", tmp_path / key)

    assert result.returncode == 2
    assert len(result.stderr.splitlines()) == 1
    assert not (tmp_path / "backup").exists()
    assert (tmp_path / "existing").read_text() == "something else"


def test_a_folder_with_files_is_refused_and_left_alone(
    source: Installation, billed: BilledMonth, tmp_path: Path
) -> None:
    (tmp_path / "notes").write_text("keep")

    result = source.run("backup", tmp_path)

    assert result.returncode == 2
    assert "empty" in result.stderr
    assert list_content(tmp_path) == ["notes"]


def test_a_damaged_lake_file_is_named_and_the_rest_is_saved(
    source: Installation, billed: BilledMonth, tmp_path: Path
) -> None:
    (name,) = list_content(source.data / "lake")
    file = source.data / "lake" / name
    content = file.read_bytes()
    for damaged in (None, content + b"more"):
        file.unlink() if damaged is None else file.write_bytes(damaged)
        try:
            code, summary = source.run_json("backup", tmp_path / str(len(damaged or b"")))
        finally:
            file.write_bytes(content)

        assert code == 1
        assert (summary["missing_lake_files"], summary["lake_files"]) == ([name], 0)
        assert summary["rows"] > 0


def test_a_missing_key_file_is_not_replaced_by_a_new_one(
    source: Installation, billed: BilledMonth, tmp_path: Path
) -> None:
    key = source.data / "key"
    key.rename(tmp_path / "moved")
    try:
        result = source.run("backup", tmp_path / "backup")

        assert result.returncode == 2
        assert "The key file" in result.stderr
        assert not key.exists()
        assert not (tmp_path / "backup").exists()
    finally:
        (tmp_path / "moved").rename(key)


def test_an_empty_database_is_not_backed_up(target: Installation, tmp_path: Path) -> None:
    target.data.mkdir()
    (target.data / "key").write_text("0123456789abcdef" * 3 + "fedcba9876543210")
    (target.data / "key").chmod(0o400)

    result = target.run("backup", tmp_path / "backup")

    assert result.returncode == 2
    assert "nothing to back up" in result.stderr
    assert list_content(tmp_path / "backup") == []


# ── refused restores ─────────────────────────────────────────────────────────────────────────────


def require_untouched(target: Installation) -> None:
    assert execute_sql(target.database, "SELECT FROM pg_tables WHERE schemaname = 'public'") == []
    assert list_content(target.data) == [] or list_content(target.data) == ["key"]


def copy_backup(saved: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(saved, tmp_path / "copy"))


@pytest.mark.parametrize("damage", ["changed", "missing", "without manifest"])
def test_a_damaged_backup_is_refused_before_anything_changes(
    saved: Path, target: Installation, tmp_path: Path, damage: str
) -> None:
    folder = copy_backup(saved, tmp_path)
    file = folder / "database" / "organisations.copy.gz"
    if damage == "changed":
        file.write_bytes(file.read_bytes() + b"\0")
    elif damage == "missing":
        file.unlink()
    else:
        (folder / "manifest.json").unlink()

    code, error = restore(target, folder, saved.with_name("key"))

    assert code == 2
    assert "manifest.json" in error if damage == "without manifest" else "organisations" in error
    require_untouched(target)


def test_a_backup_of_a_newer_version_is_refused(
    saved: Path, target: Installation, tmp_path: Path
) -> None:
    folder = copy_backup(saved, tmp_path)
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["version"], manifest["revisions"]["alembic_version"] = "9.0", "0999"
    (folder / "manifest.json").write_text(json.dumps(manifest))

    code, error = restore(target, folder, saved.with_name("key"))

    assert code == 2
    assert "Nimbill 9.0" in error
    require_untouched(target)


def test_another_key_and_a_missing_key_are_refused(
    saved: Path, target: Installation, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.write_text("0123456789abcdef" * 3 + "fedcba9876543210")
    other.chmod(0o400)

    code, error = restore(target, saved, other)
    without_key = target.run("restore", saved)

    assert (code, "not the key of this backup" in error) == (2, True)
    assert (without_key.returncode, "--key" in without_key.stderr) == (2, True)
    require_untouched(target)


@pytest.mark.parametrize("place", ["database", "lake", "audit"])
def test_a_place_that_is_not_empty_is_refused_and_left_alone(
    saved: Path, target: Installation, place: str
) -> None:
    if place == "database":
        execute_sql(target.database, "CREATE TABLE notes (text text)")
    else:
        (target.data / place).mkdir(parents=True)
        (target.data / place / "notes").write_text("keep")

    code, error = restore(target, saved, saved.with_name("key"))

    assert (code, "empty" in error) == (2, True)
    if place == "database":
        tables = execute_sql(
            target.database, "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
        )
        assert [row["tablename"] for row in tables] == ["notes"]
        assert "lake" not in {Path(name).parts[0] for name in list_content(target.data)}
    else:
        assert (target.data / place / "notes").read_text() == "keep"


def test_a_failed_restore_removes_what_it_has_restored(
    saved: Path, target: Installation, tmp_path: Path
) -> None:
    folder = copy_backup(saved, tmp_path)
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["tables"]["users"]["rows"] += 1
    (folder / "manifest.json").write_text(json.dumps(manifest))

    code, error = restore(target, folder, saved.with_name("key"))

    assert (code, "users" in error) == (2, True)
    require_untouched(target)
    assert restore(target, saved, saved.with_name("key")) == (0, "")


# ── verifying ────────────────────────────────────────────────────────────────────────────────────


def test_an_intact_backup_and_its_key_are_verified(source: Installation, saved: Path) -> None:
    code, result = source.run_json("backup", "verify", saved, "--key", saved.with_name("key"))

    assert (code, result) == (0, {"folder": str(saved), "intact": True, "problems": []})


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        ("changed", "database/users.copy.gz differs from its digest"),
        ("truncated", "database/users.copy.gz cannot be unpacked"),
        ("missing", "database/users.copy.gz is missing"),
        ("fewer rows", "database/users.copy.gz has 2 of 3 rows"),
        ("not listed", "database/users.copy.gz is not in the manifest"),
        ("incomplete", "lake/lost was missing or damaged at the time"),
        ("without manifest", "contains no complete backup: manifest.json is missing."),
    ],
)
def test_every_damage_of_a_backup_is_reported(
    source: Installation, saved: Path, tmp_path: Path, damage: str, problem: str
) -> None:
    folder = copy_backup(saved, tmp_path)
    file, path = folder / "database" / "users.copy.gz", folder / "manifest.json"
    manifest = json.loads(path.read_text())
    if damage == "changed":
        file.write_bytes(file.read_bytes() + b"\0")
    elif damage == "truncated":  # before its digest was taken
        file.write_bytes(file.read_bytes()[:-9])
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        manifest["files"]["database/users.copy.gz"] = {
            "sha256": digest,
            "bytes": file.stat().st_size,
        }
    elif damage == "missing":
        file.unlink()
    elif damage == "fewer rows":
        manifest["tables"]["users"]["rows"] = 3
    elif damage == "not listed":
        del manifest["files"]["database/users.copy.gz"]
    elif damage == "incomplete":
        manifest["missing_lake_files"] = ["lost"]
    path.write_text(json.dumps(manifest))
    if damage == "without manifest":
        path.unlink()

    code, result = source.run_json("backup", "verify", folder)
    printed = source.run("backup", "verify", folder)

    assert (code, result["intact"]) == (1, False)
    assert [found for found in result["problems"] if problem in found]
    assert (printed.returncode, problem in printed.stdout) == (1, True)


def test_another_key_is_not_verified(source: Installation, saved: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("0123456789abcdef" * 3 + "fedcba9876543210")
    other.chmod(0o400)

    code, result = source.run_json("backup", "verify", saved, "--key", other)

    assert code == 1
    assert "not the key of this backup" in result["problems"][0]
