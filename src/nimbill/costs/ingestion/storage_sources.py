"""Where cost files are read from: the interface of a source, and local files and folders."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Protocol

from nimbill.costs.ingestion.delivery_errors import delivery_error
from nimbill.costs.ingestion.import_roots import is_under
from nimbill.costs.ingestion.parts import Limits

CHUNK_BYTES = 2**20


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file in a source; `path` is relative to the source, `key` identifies it there."""

    path: PurePosixPath
    key: str
    bytes: int
    modified_at: datetime | None = None  # only an object store knows it reliably

    @property
    def name(self) -> str:
        return str(self.path)


@dataclass(frozen=True, slots=True)
class FetchedFile:
    """A file on a local disk."""

    path: Path
    bytes: int
    sha256: str


class StorageSource(Protocol):
    """A folder, a list of files, or a prefix of an object store."""

    name: str

    def list_files(self) -> Sequence[SourceFile]:
        """Return all files, ordered by path."""

    def open(self, file: SourceFile) -> AbstractContextManager[BinaryIO]:
        """Open a small file that is read as a whole."""

    def fetch(self, file: SourceFile, spool: Path, number: int) -> FetchedFile:
        """Hash the file and copy it into `spool`, unless it is local already."""


class LocalFiles:
    """Local files, read in place."""

    def __init__(self, name: str, files: Sequence[SourceFile]) -> None:
        self.name = name
        self._files = files

    def list_files(self) -> Sequence[SourceFile]:
        return self._files

    def open(self, file: SourceFile) -> AbstractContextManager[BinaryIO]:
        return _open_file(file)

    def fetch(self, file: SourceFile, spool: Path, number: int) -> FetchedFile:  # noqa: ARG002
        path = Path(file.key)
        digest = hashlib.sha256()
        with _open_file(file) as stream:
            before = os.fstat(stream.fileno())
            while chunk := stream.read(CHUNK_BYTES):
                digest.update(chunk)
            after = os.fstat(stream.fileno())
        if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
            raise delivery_error(file.name, "changed")
        return FetchedFile(path, after.st_size, digest.hexdigest())


def is_hidden(path: PurePosixPath) -> bool:
    """Whether the file or a folder in its path is hidden; `path` is relative to the source."""
    return any(name.startswith(".") and name != ".." for name in path.parts)


def find_local_file(path: Path, roots: Sequence[str] | None) -> SourceFile:
    """Refuse a path whose symbolic links lead out of `roots`; None allows every path."""
    real = Path(os.path.realpath(path))
    if roots is not None and not is_under(real, roots):
        raise delivery_error(path.name, "outside_roots")
    status = _stat(real, path.name)
    if not stat.S_ISREG(status.st_mode):
        raise delivery_error(path.name, "not_a_file")
    return SourceFile(PurePosixPath(path.name), str(real), status.st_size)


def list_local_folder(folder: Path, roots: Sequence[str] | None, limits: Limits) -> LocalFiles:
    top = Path(os.path.realpath(folder))
    files: list[SourceFile] = []
    for path in _walk(top, roots):
        file = find_local_file(path, roots)
        files.append(SourceFile(PurePosixPath(path.relative_to(top)), file.key, file.bytes))
        if len(files) > limits.source_files_max:
            raise delivery_error(folder.name, "too_many_files", limits.source_files_max)
    return LocalFiles(folder.name, sorted(files, key=lambda file: file.path))


def _walk(top: Path, roots: Sequence[str] | None) -> Iterator[Path]:
    """Yield every visible file; each folder is entered once, also if several links lead to it."""
    entered = set()
    for folder, subfolders, files in os.walk(top, followlinks=True, onerror=_refuse_folder):
        real = os.path.realpath(folder)
        if real in entered:
            subfolders.clear()
            continue
        entered.add(real)
        if roots is not None and not is_under(Path(real), roots):
            raise delivery_error(Path(folder).name, "outside_roots")
        subfolders[:] = sorted(name for name in subfolders if not name.startswith("."))
        yield from (Path(folder) / name for name in files if not name.startswith("."))


def _refuse_folder(error: OSError) -> None:
    raise delivery_error(Path(str(error.filename)).name, "source_denied") from None


@contextmanager
def _open_file(file: SourceFile) -> Iterator[BinaryIO]:
    """Refuse a file that cannot be read. Other errors concern the machine, not the delivery."""
    try:
        with Path(file.key).open("rb", buffering=0) as stream:
            yield stream
    except FileNotFoundError:
        raise delivery_error(file.name, "changed") from None
    except PermissionError:
        raise delivery_error(file.name, "source_denied") from None
    except OSError as error:
        if error.errno != errno.EIO:
            raise
        raise delivery_error(file.name, "source_unreadable") from None


def _stat(path: Path, name: str) -> os.stat_result:
    try:
        return path.stat()
    except (FileNotFoundError, NotADirectoryError, ValueError):
        raise delivery_error(name, "source_missing") from None
    except PermissionError:
        raise delivery_error(name, "source_denied") from None
    except OSError:
        raise delivery_error(name, "not_a_file") from None
