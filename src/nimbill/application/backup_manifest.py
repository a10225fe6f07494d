"""The manifest of a backup: what the backup contains, with the digest of every file."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import IO

import msgspec

from nimbill.foundation.encryption import Encryptor
from nimbill.foundation.errors import OperatorError
from nimbill.foundation.fsync import fsync_path, fsync_tree

MANIFEST = "manifest.json"
FORMAT = 1
CHUNK_BYTES = 2**20

DATABASE_FOLDER = "database"
LAKE_FOLDER = "lake"
AUDIT_FOLDER = "audit"


class BackupError(OperatorError):
    """A backup cannot be written, is damaged, or does not fit; the message says what to do."""


class BackupTable(msgspec.Struct, frozen=True):
    columns: Sequence[str]
    rows: int


class BackupFile(msgspec.Struct, frozen=True):
    sha256: str
    bytes: int


class BackupManifest(msgspec.Struct, frozen=True):
    """`files` are by path in the backup, `revisions` by version table."""

    format: int
    version: str
    created_at: str
    key_check: str
    revisions: Mapping[str, str]
    organisations: Sequence[str]
    tables: Mapping[str, BackupTable]
    files: Mapping[str, BackupFile]
    missing_lake_files: Sequence[str]

    def list_files(self, folder: str) -> list[str]:
        """Return the files of one of the backup's folders, relative to that folder."""
        prefix = f"{folder}/"
        return [path.removeprefix(prefix) for path in self.files if path.startswith(prefix)]


def compute_key_check(encryptor: Encryptor) -> str:
    """A value that tells whether a key belongs to a backup; it reveals nothing about the key."""
    return encryptor.derive_key("backup check").hex()


def write_manifest(folder: Path, manifest: BackupManifest) -> None:
    """Written last, after all other files were synced: a folder without it is no backup."""
    fsync_tree(folder)
    partial = folder / f"{MANIFEST}.part"
    with partial.open("wb") as file:
        file.write(msgspec.json.format(msgspec.json.encode(manifest), indent=1) + b"\n")
        file.flush()
        os.fsync(file.fileno())
    partial.rename(folder / MANIFEST)
    fsync_path(folder)


def read_manifest(folder: Path) -> BackupManifest:
    """Read the manifest and check every file's digest."""
    manifest = load_manifest(folder)
    for problem in find_damage(folder, manifest):
        raise BackupError(f"The backup is damaged: {problem}. Use another backup.")
    return manifest


def load_manifest(folder: Path) -> BackupManifest:
    """Read the manifest without looking at the files that it names."""
    path = folder / MANIFEST
    if not path.is_file():
        raise BackupError(f"{folder} contains no complete backup: {MANIFEST} is missing.")
    try:
        manifest = msgspec.json.decode(path.read_bytes(), type=BackupManifest)
    except msgspec.MsgspecError as error:
        raise BackupError(f"{path} is not the manifest of a backup.") from error
    if manifest.format != FORMAT:
        raise BackupError(f"{path} has the format {manifest.format}; this program reads {FORMAT}.")
    return manifest


def find_damage(folder: Path, manifest: BackupManifest) -> Iterator[str]:
    """What differs from the manifest, file by file."""
    for name, expected in manifest.files.items():
        if ".." in PurePosixPath(name).parts or name.startswith("/"):
            yield f"{name} is not in the backup's folder"
        elif not (folder / name).is_file():
            yield f"{name} is missing"
        elif describe_file(folder / name) != expected:
            yield f"{name} differs from its digest"


def describe_file(path: Path) -> BackupFile:
    with path.open("rb") as file:
        return BackupFile(hashlib.file_digest(file, "sha256").hexdigest(), path.stat().st_size)


def describe_files(folder: Path) -> dict[str, BackupFile]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): describe_file(path) for path in files}


def copy_stream(source: IO[bytes], target: Path) -> str:
    """Copy to a new, durable file; return the SHA-256 of its contents."""
    digest = hashlib.sha256()
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with target.open("xb") as file:
        while chunk := source.read(CHUNK_BYTES):
            digest.update(chunk)
            file.write(chunk)
        file.flush()
        os.fsync(file.fileno())
    return digest.hexdigest()
