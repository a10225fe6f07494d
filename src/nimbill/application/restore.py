"""Restores a backup into an empty database, an empty lake and an empty data folder."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from nimbill.application.backup_manifest import (
    AUDIT_FOLDER,
    DATABASE_FOLDER,
    LAKE_FOLDER,
    BackupError,
    BackupManifest,
    compute_key_check,
    copy_stream,
)
from nimbill.application.migration_packages import MIGRATIONS
from nimbill.costs.lake.parquet_files import Lake
from nimbill.database.migrate import (
    create_and_load_schema,
    is_known_revision,
    require_empty_database,
)
from nimbill.database.table_copy import CopiedTable, load_tables
from nimbill.foundation.encryption import load_or_create_key
from nimbill.foundation.fsync import create_folder, fsync_path
from nimbill.foundation.settings import Settings

# Folders of the data folder whose contents belong to a database.
DATA_FOLDERS = ("audit", "imports", "outbox")


def require_known_revisions(manifest: BackupManifest) -> None:
    """Backups of older versions are upgraded; those of newer ones cannot be."""
    packages = {package.version_table: package for package in MIGRATIONS}
    for table, revision in manifest.revisions.items():
        if table not in packages or not is_known_revision(packages[table], revision):
            raise BackupError(
                f"The backup was made by Nimbill {manifest.version}, which has other tables. "
                "Restore it with that version or a newer one."
            )


def require_empty_places(settings: Settings) -> None:
    """Check everything but the database, which is checked in the transaction that fills it."""
    for name in DATA_FOLDERS:
        folder = settings.data / name
        if folder.is_dir() and any(folder.iterdir()):
            raise BackupError(f"{folder} is not empty. Restore into an empty data folder.")
    lake = Lake(settings.lake_url)
    if not lake.is_empty():
        raise BackupError(f"{lake!r} is not empty. Restore into an empty lake.")


def require_key_of_backup(manifest: BackupManifest, key_file: Path) -> None:
    if not key_file.exists():
        raise BackupError(
            f"The key file {key_file} is missing. Name the copy of the key with --key."
        )
    if compute_key_check(load_or_create_key(key_file)) != manifest.key_check:
        raise BackupError(f"{key_file} is not the key of this backup.")


async def restore_backup(
    url: str, settings: Settings, folder: Path, manifest: BackupManifest
) -> None:
    """Restore the lake and the checkpoints, then the database in one transaction.

    If it fails, the restored files are removed again.
    """
    await require_empty_database(url)
    lake = Lake(settings.lake_url)
    lake_names = manifest.list_files(LAKE_FOLDER)
    tables = {
        name: CopiedTable(table.columns, table.rows) for name, table in manifest.tables.items()
    }

    async def load(driver: Any) -> None:
        await load_tables(driver, folder / DATABASE_FOLDER, tables)

    try:
        await asyncio.to_thread(_restore_lake, lake, settings, folder, lake_names)
        await asyncio.to_thread(_restore_checkpoints, settings, folder, manifest)
        await create_and_load_schema(url, MIGRATIONS, manifest.revisions, load)
    except BaseException:
        lake.remove(lake_names)
        shutil.rmtree(settings.data / "audit", ignore_errors=True)
        raise


def _restore_lake(lake: Lake, settings: Settings, folder: Path, names: Sequence[str]) -> None:
    """Copy each file before it is stored, because storing moves it out of its folder."""
    scratch = settings.data / "scratch"
    scratch.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=scratch, prefix="restore-") as temporary:
        for name in names:
            path = PurePosixPath(name)
            copy = Path(temporary) / path.name
            with (folder / LAKE_FOLDER / name).open("rb") as source:
                copy_stream(source, copy)
            lake.put([copy], folder=path.parent.as_posix())


def _restore_checkpoints(settings: Settings, folder: Path, manifest: BackupManifest) -> None:
    target = settings.data / "audit"
    create_folder(target, 0o700)
    for name in manifest.list_files(AUDIT_FOLDER):
        with (folder / AUDIT_FOLDER / name).open("rb") as source:
            copy_stream(source, target / PurePosixPath(name).name)
    fsync_path(target)
