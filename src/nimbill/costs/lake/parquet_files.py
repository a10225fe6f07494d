"""Stores Parquet files of cost lines in a folder or an object store.

A file belongs to one import and never changes. The database (records.py) decides which files are
used; all other files were left by an interrupted operation and can be removed.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING
from urllib.parse import urlsplit

from nimbill.costs.lake.lake_error import translate_lake_errors
from nimbill.foundation.fsync import create_folder, fsync_path

if TYPE_CHECKING:
    from pyarrow.dataset import Dataset
    from pyarrow.fs import FileSystem
    from pyarrow.parquet import FileMetaData

# See docs/choices.md, cost-lake.

CHUNK_BYTES = 4 * 2**20
PARTIAL_SUFFIX = ".part"


class Lake:
    """A folder, or a prefix of an object store; names are paths with slashes relative to it."""

    def __init__(self, url: str) -> None:
        self.is_local = "://" not in url
        self.url = url  # may contain credentials
        self._root = Path(url)
        self._store: tuple[FileSystem, str] | None = None
        self._bucket = None if self.is_local else urlsplit(url).hostname

    def put(self, files: Sequence[Path], *, folder: str) -> list[str]:
        """Move all files into the folder or, if one fails, none; return their names.

        The files must already be synced to disk.
        """
        names = [_require_safe_name(f"{folder}/{file.name}") for file in files]
        stored: list[str] = []
        try:
            with translate_lake_errors(self._bucket):
                for file, name in zip(files, names, strict=True):
                    stored.append(name)
                    self._store_copy(file, name)
                if self.is_local and files:
                    self._sync_folders(self._root / folder)
        except BaseException:
            with suppress(OSError):
                self.remove(stored)
            raise
        for file in files:
            with suppress(OSError):  # the file is not needed any more
                file.unlink(missing_ok=True)
        return names

    def copy(self, file: Path, name: str) -> None:
        """Store a file that others read for a while; it need not survive a crash."""
        with translate_lake_errors(self._bucket):
            self._store_copy(file, _require_safe_name(name))

    def fetch(self, name: str, folder: Path) -> Path:
        """Return the path of a file: its own in a folder, that of a copy from an object store."""
        if self.is_local:
            return self._root / _require_safe_name(name)
        path = folder / PurePosixPath(name).name
        with (
            self.open_file(name) as source,
            path.open("wb") as target,
            translate_lake_errors(self._bucket),
        ):
            shutil.copyfileobj(source, target, CHUNK_BYTES)
        return path

    def remove(self, names: Collection[str]) -> None:
        """Ignore missing files; remove folders that become empty."""
        with translate_lake_errors(self._bucket):
            for name in names:
                _require_safe_name(name)
                if self.is_local:
                    self._remove_local(self._root / name)
                else:
                    store, key = self._locate(name)
                    with suppress(FileNotFoundError):
                        store.delete_file(key)

    def remove_import(self, organisation_id: str, vendor: str, import_id: str) -> None:
        """Remove all files of an import whose month is not known."""
        names = self.list_names(f"{organisation_id}/{vendor}")
        self.remove([name for name in names if PurePosixPath(name).parts[-2] == import_id])

    def list_names(self, folder: str) -> list[str]:
        """Return all files below the folder, sorted, including partial ones."""
        if self.is_local:
            path = self._root / _require_safe_name(folder)
            # Unlike rglob, walk goes on if a folder is deleted meanwhile.
            files = (Path(parent, name) for parent, _, names in os.walk(path) for name in names)
            return sorted(file.relative_to(self._root).as_posix() for file in files)
        from pyarrow.fs import FileSelector, FileType

        store, key = self._locate(_require_safe_name(folder))
        with translate_lake_errors(self._bucket):
            infos = store.get_file_info(FileSelector(key, recursive=True, allow_not_found=True))
        root_length = len(key) - len(folder)
        return sorted(info.path[root_length:] for info in infos if info.type == FileType.File)

    def is_empty(self) -> bool:
        """Return whether the lake contains no file at all."""
        if self.is_local:
            with translate_lake_errors(self._bucket):
                return not any(path.is_file() for path in self._root.rglob("*"))
        from pyarrow.fs import FileSelector, FileType

        store, root = self._locate("")
        with translate_lake_errors(self._bucket):
            infos = store.get_file_info(FileSelector(root, recursive=True, allow_not_found=True))
        return all(info.type != FileType.File for info in infos)

    def open_file(self, name: str) -> IO[bytes]:
        """Open a stored file for reading; FileNotFoundError if it does not exist."""
        _require_safe_name(name)
        with translate_lake_errors(self._bucket, keep=FileNotFoundError):
            if self.is_local:
                return (self._root / name).open("rb")
            store, key = self._locate(name)
            stream: IO[bytes] = store.open_input_stream(key, compression=None)
            return stream

    def addresses(self, names: Sequence[str]) -> list[str]:
        """Return paths or object addresses that other programs can read."""
        if self.is_local:
            return [str(self._root / _require_safe_name(name)) for name in names]
        return [f"s3://{self._locate(name)[1]}" for name in names]

    def open_dataset(self, names: Sequence[str]) -> Dataset:
        """The lines are read when the dataset is scanned."""
        from pyarrow import dataset

        from nimbill.costs.cost_line import SCHEMA

        store, _ = self._locate("")
        keys = [self._locate(name)[1] for name in names]
        with translate_lake_errors(self._bucket):
            return dataset.dataset(keys, schema=SCHEMA, format="parquet", filesystem=store)

    def read_metadata(self, names: Sequence[str]) -> list[FileMetaData]:
        from pyarrow import parquet

        store, _ = self._locate("")
        keys = [self._locate(name)[1] for name in names]
        with translate_lake_errors(self._bucket):
            return [parquet.read_metadata(key, filesystem=store) for key in keys]

    def _store_copy(self, file: Path, name: str) -> None:
        if self.is_local:
            self._link_or_copy(file, self._root / name)
        else:
            self._upload(file, name)

    # ── folder ───────────────────────────────────────────────────────────────────────────────────

    def _link_or_copy(self, file: Path, target: Path) -> None:
        """Link the file, or copy it beside its target first if it is on another disk."""
        create_folder(target.parent)
        partial = target.with_name(target.name + PARTIAL_SUFFIX)
        try:
            os.link(file, partial)
        except OSError:
            partial.unlink(missing_ok=True)
            with file.open("rb") as source, partial.open("wb") as copy:
                shutil.copyfileobj(source, copy, CHUNK_BYTES)
                copy.flush()
                os.fsync(copy.fileno())
        partial.replace(target)

    def _sync_folders(self, folder: Path) -> None:
        """Sync the folder and all its parents up to the root, which makes the names durable."""
        for path in (folder, *folder.parents):
            fsync_path(path)
            if path == self._root:
                break

    def _remove_local(self, path: Path) -> None:
        path.unlink(missing_ok=True)
        path.with_name(path.name + PARTIAL_SUFFIX).unlink(missing_ok=True)
        for folder in path.parents:
            if folder == self._root:
                break
            with suppress(OSError):  # the folder still contains other files
                folder.rmdir()

    # ── object store ─────────────────────────────────────────────────────────────────────────────

    def _upload(self, file: Path, name: str) -> None:
        """The object becomes visible when the upload is complete."""
        store, key = self._locate(name)
        with file.open("rb") as source, store.open_output_stream(key) as target:
            shutil.copyfileobj(source, target, CHUNK_BYTES)

    def _locate(self, name: str) -> tuple[FileSystem, str]:
        from pyarrow.fs import FileSystem, LocalFileSystem

        if self._store is None:
            local = (LocalFileSystem(), self.url)
            with translate_lake_errors(self._bucket):
                self._store = local if self.is_local else FileSystem.from_uri(self.url)
        store, root = self._store
        return store, f"{root.rstrip('/')}/{name}" if name else root

    def __repr__(self) -> str:
        """Omit credentials, which the address may contain."""
        return f"Lake({self})"

    def __str__(self) -> str:
        """The address without credentials."""
        if self.is_local:
            return self.url
        parts = urlsplit(self.url)
        return f"s3://{parts.hostname}{parts.path}"


def import_folder(organisation_id: str, *, vendor: str, month: str, import_id: str) -> str:
    """None of the names comes from a caller."""
    return _require_safe_name(f"{organisation_id}/{vendor}/{month}/{import_id}")


def _require_safe_name(name: str) -> str:
    """Names are generated by the program; one that leads out of the lake is a bug."""
    parts = PurePosixPath(name).parts
    if not parts or name.startswith("/") or ".." in parts or "\\" in name:
        raise ValueError("The name is not inside the lake.")
    return name
