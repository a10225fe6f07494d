"""Records what a folder contained when it was synced: those names survive a power loss."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch


class SyncedNames:
    def __init__(self) -> None:
        self._names: dict[tuple[int, int], set[str]] = {}  # by device and inode number

    def record(self, descriptor: int) -> None:
        status = os.fstat(descriptor)
        names = set(os.listdir(descriptor)) if stat.S_ISDIR(status.st_mode) else {""}
        self._names[status.st_dev, status.st_ino] = names

    def survives(self, path: Path, *, below: Path) -> bool:
        """Whether its name, and that of each folder up to `below`, was synced."""
        if path == below:
            return True
        status = path.parent.stat()
        synced = self._names.get((status.st_dev, status.st_ino), set())
        return path.name in synced and self.survives(path.parent, below=below)

    def has_content(self, file: Path) -> bool:
        status = file.stat()
        return (status.st_dev, status.st_ino) in self._names


@contextmanager
def recorded_syncs() -> Iterator[SyncedNames]:
    synced, fsync = SyncedNames(), os.fsync

    def record(descriptor: int) -> None:
        fsync(descriptor)
        synced.record(descriptor)

    with patch.object(os, "fsync", record):
        yield synced
