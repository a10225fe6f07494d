"""Writes a backup: the database, the files of the lake and the audit checkpoints in one folder.

The key is never part of it, so that a stolen backup does not include the key.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import nimbill
from nimbill.application.backup_manifest import (
    AUDIT_FOLDER,
    DATABASE_FOLDER,
    FORMAT,
    LAKE_FOLDER,
    BackupError,
    BackupManifest,
    BackupTable,
    compute_key_check,
    copy_stream,
    describe_files,
    write_manifest,
)
from nimbill.application.migration_packages import MIGRATIONS
from nimbill.costs.lake.parquet_files import Lake
from nimbill.database.migrate import is_known_revision
from nimbill.database.table_copy import (
    dump_tables,
    fetch_of_organisation,
    list_organisation_ids,
    open_snapshot,
    read_revisions,
)
from nimbill.foundation import clock
from nimbill.foundation.encryption import Encryptor, load_or_create_key
from nimbill.foundation.fsync import create_folder, fsync_path
from nimbill.foundation.settings import Settings

_LAKE_FILES = "SELECT path, sha256 FROM lake_files WHERE organisation_id = $1 ORDER BY path"
VERSION_TABLES = frozenset(package.version_table for package in MIGRATIONS)


class LakeFile(NamedTuple):
    path: str
    sha256: str


@contextmanager
def new_backup_folder(folder: Path) -> Iterator[None]:
    """Create the folder for the current user only: it contains hashes of passwords.

    If the backup fails, the folder is emptied again, so that the command can be repeated.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BackupError(f"{folder} is not an empty folder. Choose an empty or a new one.")
    create_folder(folder)
    folder.chmod(0o700)
    try:
        yield
    except BaseException:
        for part in (AUDIT_FOLDER, DATABASE_FOLDER, LAKE_FOLDER):
            shutil.rmtree(folder / part, ignore_errors=True)
        raise


def load_existing_key(settings: Settings) -> Encryptor:
    if not settings.key_file.exists():
        raise BackupError(
            f"The key file {settings.key_file} is missing. A database cannot be used without its "
            "key: put it in its place, or set NIMBILL_KEY_FILE."
        )
    return load_or_create_key(settings.key_file)


def refuse_key_target(target: Path, *, backup: Path) -> None:
    """Check before a long backup where the key will be copied to."""
    if target.resolve().is_relative_to(backup.resolve()):
        raise BackupError("Keep the key apart from the backup: choose a file in another folder.")
    if target.exists():
        raise BackupError(f"{target} exists already. Choose a new file for the key.")


def copy_key(key_file: Path, target: Path) -> None:
    """Copy the key to a new file that only its owner can read."""
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o400)
    with os.fdopen(descriptor, "wb") as file:
        file.write(key_file.read_bytes())
        file.flush()
        os.fsync(file.fileno())
    fsync_path(target.parent)


async def write_backup(
    url: str, encryptor: Encryptor, settings: Settings, folder: Path
) -> BackupManifest:
    """Write the checkpoints first, then the database, then the lake.

    In this order they fit together while the service runs: no checkpoint is newer than the
    database, and replaced files of the lake remain for an hour.
    """
    created_at = clock.now()
    _copy_checkpoints(settings.data / "audit", folder / AUDIT_FOLDER)
    (folder / DATABASE_FOLDER).mkdir(mode=0o700)
    async with open_snapshot(url) as driver:
        revisions = await _read_known_revisions(driver)
        organisation_ids = await list_organisation_ids(driver)
        tables = await dump_tables(
            driver, folder / DATABASE_FOLDER, organisation_ids, leave_out=VERSION_TABLES
        )
        lake_files = [
            LakeFile(*row)
            for organisation_id in organisation_ids
            for row in await fetch_of_organisation(driver, organisation_id, _LAKE_FILES)
        ]
    lake = Lake(settings.lake_url)
    missing = await asyncio.to_thread(_copy_lake_files, lake, lake_files, folder / LAKE_FOLDER)
    manifest = BackupManifest(
        format=FORMAT,
        version=nimbill.__version__,
        created_at=created_at.isoformat(),
        key_check=compute_key_check(encryptor),
        revisions=revisions,
        organisations=organisation_ids,
        tables={name: BackupTable(table.columns, table.rows) for name, table in tables.items()},
        files=await asyncio.to_thread(describe_files, folder),
        missing_lake_files=missing,
    )
    write_manifest(folder, manifest)
    return manifest


async def _read_known_revisions(driver: Any) -> dict[str, str]:
    revisions = await read_revisions(driver, MIGRATIONS)
    if not revisions:
        raise BackupError("The database contains no data of Nimbill. There is nothing to back up.")
    for package in MIGRATIONS:
        revision = revisions.get(package.version_table)
        if revision is not None and not is_known_revision(package, revision):
            raise BackupError(
                "The database belongs to a newer version of Nimbill. Back it up with that version."
            )
    return revisions


def _copy_checkpoints(source: Path, target: Path) -> None:
    target.mkdir(mode=0o700)
    for path in sorted(source.glob("*.jsonl")):
        with path.open("rb") as file:
            copy_stream(file, target / path.name)


def _copy_lake_files(lake: Lake, files: Sequence[LakeFile], target: Path) -> list[str]:
    """Return the files that are missing or differ from the database's digest; they are left out."""
    target.mkdir(mode=0o700)
    missing = []
    for path, sha256 in files:
        copy = target / path
        try:
            with lake.open_file(path) as source:
                digest = copy_stream(source, copy)
        except FileNotFoundError:
            missing.append(path)
            continue
        if digest != sha256:
            copy.unlink()
            missing.append(path)
    return missing
