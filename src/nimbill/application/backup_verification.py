"""Verifies a backup without restoring it, and without a database."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path

from nimbill.application.backup_manifest import (
    CHUNK_BYTES,
    DATABASE_FOLDER,
    BackupError,
    BackupManifest,
    find_damage,
    load_manifest,
)
from nimbill.application.restore import require_key_of_backup, require_known_revisions
from nimbill.database.table_copy import FILE_SUFFIX


def find_problems_of_backup(folder: Path, key_file: Path | None) -> list[str]:
    """Return why the backup, with this copy of its key, could not be restored completely."""
    try:
        manifest = load_manifest(folder)
        require_known_revisions(manifest)
        if key_file is not None:
            require_key_of_backup(manifest, key_file)
    except BackupError as error:
        return [str(error)]
    return [
        *find_damage(folder, manifest),
        *_find_unreadable_tables(folder, manifest),
        *(
            f"lake/{path} was missing or damaged at the time"
            for path in manifest.missing_lake_files
        ),
    ]


def _find_unreadable_tables(folder: Path, manifest: BackupManifest) -> Iterator[str]:
    """Read every table: the digest of a file that was written incompletely would fit."""
    for name, table in manifest.tables.items():
        file_name = f"{DATABASE_FOLDER}/{name}{FILE_SUFFIX}"
        if file_name not in manifest.files:
            yield f"{file_name} is not in the manifest"
        elif (folder / file_name).is_file():
            try:
                rows = _count_rows(folder / file_name)
            except (EOFError, gzip.BadGzipFile, zlib.error):
                yield f"{file_name} cannot be unpacked"
                continue
            if rows != table.rows:
                yield f"{file_name} has {rows} of {table.rows} rows"


def _count_rows(path: Path) -> int:
    """A row is a line: the format writes line breaks in values as \\n."""
    rows = 0
    with gzip.open(path, "rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            rows += chunk.count(b"\n")
    return rows
