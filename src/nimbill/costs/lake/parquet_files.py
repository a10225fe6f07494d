"""The Parquet files of the months: where they lie, and how one gets there whole or not at all.

A file belongs to one import and never changes. Which files count is said by the database alone
(records.py): whatever lies here beside those was left by something that died half way, and is
removed without being missed.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from nimbill.foundation.basis import chosen
from nimbill.foundation.fsync import fsync_path

if TYPE_CHECKING:
    from pyarrow.dataset import Dataset
    from pyarrow.fs import FileSystem
    from pyarrow.parquet import FileMetaData

basis = chosen("cost-lake")

CHUNK_BYTES = 4 * 2**20
HALF_DONE = ".part"


class Lake:
    """A folder or a prefix of an object store; names inside it are paths with slashes."""

    def __init__(self, url: str) -> None:
        self.is_local = "://" not in url
        self._url = url
        self._root = Path(url)
        self._store: tuple[FileSystem, str] | None = None

    def put(self, files: Sequence[Path], *, under: str) -> list[str]:
        """Move these files here, each under its own name; all of them, or none.

        They have been synced to disk by whoever wrote them.
        """
        names = [_sound(f"{under}/{file.name}") for file in files]
        done: list[str] = []
        try:
            for file, name in zip(files, names, strict=True):
                done.append(name)
                if self.is_local:
                    self._move(file, self._root / name)
                else:
                    self._upload(file, name)
            if self.is_local and files:
                self._sync_folders(self._root / under)
        except BaseException:
            with suppress(OSError):
                self.remove(done)
            raise
        for file in files:
            with suppress(OSError):  # it has done its duty
                file.unlink(missing_ok=True)
        return names

    def remove(self, names: Collection[str]) -> None:
        """Those that are there; folders left empty go too."""
        for name in names:
            _sound(name)
            if self.is_local:
                self._remove_local(self._root / name)
            else:
                store, key = self._stored(name)
                with suppress(FileNotFoundError):
                    store.delete_file(key)

    def names(self, under: str) -> list[str]:
        """Every file below a folder, half-done ones included, sorted."""
        if self.is_local:
            folder = self._root / _sound(under)
            found = (file for file in folder.rglob("*") if file.is_file())
            return sorted(file.relative_to(self._root).as_posix() for file in found)
        from pyarrow.fs import FileSelector, FileType

        store, key = self._stored(_sound(under))
        listed = store.get_file_info(FileSelector(key, recursive=True, allow_not_found=True))
        cut = len(key) - len(under)
        return sorted(info.path[cut:] for info in listed if info.type == FileType.File)

    def addresses(self, names: Sequence[str]) -> list[str]:
        """As another program would be told them: paths of files, or addresses of objects."""
        if self.is_local:
            return [str(self._root / _sound(name)) for name in names]
        return [f"s3://{self._stored(name)[1]}" for name in names]

    def dataset(self, names: Sequence[str]) -> Dataset:
        """The lines of these files, read piece by piece as they are asked for."""
        from pyarrow import dataset

        from nimbill.costs.cost_line import SCHEMA

        store, _ = self._stored("")
        keys = [self._stored(name)[1] for name in names]
        return dataset.dataset(keys, schema=SCHEMA, format="parquet", filesystem=store)

    def metadata(self, names: Sequence[str]) -> list[FileMetaData]:
        """What each file says of itself at its end."""
        from pyarrow import parquet

        store, _ = self._stored("")
        return [parquet.read_metadata(self._stored(name)[1], filesystem=store) for name in names]

    # ── a folder ─────────────────────────────────────────────────────────────────────────────────

    def _move(self, file: Path, place: Path) -> None:
        """Renamed where both lie on one disk, else copied beside its place and renamed there."""
        place.parent.mkdir(parents=True, exist_ok=True)
        half_done = place.with_name(place.name + HALF_DONE)
        try:
            os.link(file, half_done)
        except OSError:
            half_done.unlink(missing_ok=True)
            with file.open("rb") as source, half_done.open("wb") as copy:
                shutil.copyfileobj(source, copy, CHUNK_BYTES)
                copy.flush()
                os.fsync(copy.fileno())
        half_done.replace(place)

    def _sync_folders(self, folder: Path) -> None:
        """A name is on disk once its folder is, and so on up to the root."""
        for one in (folder, *folder.parents):
            fsync_path(one)
            if one == self._root:
                break

    def _remove_local(self, place: Path) -> None:
        place.unlink(missing_ok=True)
        place.with_name(place.name + HALF_DONE).unlink(missing_ok=True)
        for folder in place.parents:
            if folder == self._root:
                break
            with suppress(OSError):  # somebody else's file lies in it still
                folder.rmdir()

    # ── an object store ──────────────────────────────────────────────────────────────────────────

    def _upload(self, file: Path, name: str) -> None:
        """An object appears when its last piece has arrived; an upload cut short leaves none."""
        store, key = self._stored(name)
        with file.open("rb") as source, store.open_output_stream(key) as object_:
            shutil.copyfileobj(source, object_, CHUNK_BYTES)

    def _stored(self, name: str) -> tuple[FileSystem, str]:
        from pyarrow.fs import FileSystem, LocalFileSystem

        if self._store is None:
            local = (LocalFileSystem(), self._url)
            self._store = local if self.is_local else FileSystem.from_uri(self._url)
        store, root = self._store
        return store, f"{root.rstrip('/')}/{name}" if name else root

    def __repr__(self) -> str:
        """Without credentials, which an address may carry."""
        if self.is_local:
            return f"Lake({self._url})"
        parts = urlsplit(self._url)
        return f"Lake(s3://{parts.hostname}{parts.path})"


def folder_of(organisation_id: str, *, vendor: str, month: str, import_id: str) -> str:
    """Where the files of an import lie; nothing in it was written by a caller."""
    return _sound(f"{organisation_id}/{vendor}/{month}/{import_id}")


def _sound(name: str) -> str:
    """Names are made by us; one that would lead elsewhere is a mistake of ours."""
    parts = PurePosixPath(name).parts
    if not parts or name.startswith("/") or ".." in parts or "\\" in name:
        raise ValueError("not a name inside the lake")
    return name
