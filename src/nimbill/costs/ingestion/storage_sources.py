"""Where files lie before they are delivered: what is there, and how one of them is had."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Protocol

from nimbill.costs.ingestion.delivery_errors import refused
from nimbill.costs.ingestion.import_roots import is_under
from nimbill.costs.ingestion.parts import Limits

CHUNK_BYTES = 2**20


@dataclass(frozen=True, slots=True)
class Found:
    """A file somewhere; `at` is relative to where one looked, `key` is how the place knows it."""

    at: PurePosixPath
    key: str
    bytes: int
    written: datetime | None = None  # only an object store knows that reliably

    @property
    def name(self) -> str:
        return str(self.at)


@dataclass(frozen=True, slots=True)
class FetchedFile:
    """A file that can be read here."""

    path: Path
    bytes: int
    sha256: str


class StorageSource(Protocol):
    """A folder, some files named one by one, or a prefix of an object store."""

    name: str

    def files(self) -> Sequence[Found]:
        """Everything that lies there, in order of name."""

    def open(self, found: Found) -> AbstractContextManager[BinaryIO]:
        """For reading a small file as a whole."""

    def bring(self, found: Found, spool: Path, number: int) -> FetchedFile:
        """Have it here, hashed in the same pass; in place where it lies here already."""


class LocalFiles:
    """Files of this machine, read where they lie.

    With `roots` nothing outside of them is touched, whatever links lead there; without, whoever
    names a source is trusted.
    """

    def __init__(self, name: str, found: Sequence[Found]) -> None:
        self.name = name
        self._found = found

    def files(self) -> Sequence[Found]:
        return self._found

    def open(self, found: Found) -> AbstractContextManager[BinaryIO]:
        return Path(found.key).open("rb")

    def bring(self, found: Found, spool: Path, number: int) -> FetchedFile:  # noqa: ARG002
        path = Path(found.key)
        digest = hashlib.sha256()
        with path.open("rb", buffering=0) as file:
            before = os.fstat(file.fileno())
            while chunk := file.read(CHUNK_BYTES):
                digest.update(chunk)
            after = os.fstat(file.fileno())
        if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
            raise refused(found.name, "changed")
        return FetchedFile(path, after.st_size, digest.hexdigest())


def local_file(path: Path, roots: Sequence[str] | None) -> Found:
    real = Path(os.path.realpath(path))
    if roots is not None and not is_under(real, roots):
        raise refused(path.name, "outside_roots")
    status = _status(real, path.name)
    if not stat.S_ISREG(status.st_mode):
        raise refused(path.name, "not_a_file")
    return Found(PurePosixPath(path.name), str(real), status.st_size)


def local_folder(folder: Path, roots: Sequence[str] | None, limits: Limits) -> LocalFiles:
    top = Path(os.path.realpath(folder))
    found: list[Found] = []
    for path in _walked(top, roots):
        one = local_file(path, roots)
        found.append(Found(PurePosixPath(path.relative_to(top)), one.key, one.bytes))
        if len(found) > limits.listed_max:
            raise refused(folder.name, "too_many_files", limits.listed_max)
    return LocalFiles(folder.name, sorted(found, key=lambda one: one.at))


def _walked(top: Path, roots: Sequence[str] | None) -> Iterator[Path]:
    """Every file under it; folders are entered once, however often links lead there."""
    entered = set()
    for name, folders, files in os.walk(top, followlinks=True, onerror=_denied):
        real = os.path.realpath(name)
        if real in entered:
            folders.clear()
            continue
        entered.add(real)
        if roots is not None and not is_under(Path(real), roots):
            raise refused(Path(name).name, "outside_roots")
        folders[:] = sorted(one for one in folders if not one.startswith("."))
        yield from (Path(name) / one for one in files if not one.startswith("."))


def _denied(error: OSError) -> None:
    raise refused(Path(str(error.filename)).name, "source_denied") from None


def _status(path: Path, name: str) -> os.stat_result:
    try:
        return path.stat()
    except (FileNotFoundError, NotADirectoryError, ValueError):
        raise refused(name, "source_missing") from None
    except PermissionError:
        raise refused(name, "source_denied") from None
    except OSError:
        raise refused(name, "not_a_file") from None
