"""File calls of this process that fail on purpose: the n-th one below a folder."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

ERROR_CODES = {
    "the disk is full": errno.ENOSPC,
    "the disk cannot be read": errno.EIO,
    "too many files are open": errno.EMFILE,
    "memory is short": errno.ENOMEM,
}
# what Python tells its audit hooks; syncing is none of it and is counted by itself
WATCHED = frozenset({"open", "os.mkdir", "os.rename", "os.link", "os.remove", "os.truncate"})


@dataclass
class Watch:
    folder: Path
    number: int
    code: int
    calls: int = 0
    failed: str = ""

    def call(self, what: str, path: object) -> None:
        if self.failed or not isinstance(path, str | bytes | os.PathLike):
            return
        if not os.fsdecode(path).startswith(str(self.folder)):
            return
        self.count(what)

    def count(self, what: str) -> None:
        if self.failed:
            return
        self.calls += 1
        if self.calls == self.number:
            self.failed = what
            raise OSError(self.code, os.strerror(self.code))


_watch: Watch | None = None
_hooked = False


def _hook(event: str, args: tuple[Any, ...]) -> None:
    if _watch is not None and event in WATCHED and args:
        _watch.call(event, args[0])


@contextmanager
def fail_call(folder: Path, number: int, code: int) -> Iterator[Watch]:
    """The n-th call fails and no other; `failed` says which it was, or nothing."""
    global _watch, _hooked
    if not _hooked:
        sys.addaudithook(_hook)  # for good: hooks cannot be taken out, so it looks at `_watch`
        _hooked = True
    watch = Watch(folder, number, code)
    sync = os.fsync

    def fsync(descriptor: int) -> None:
        watch.count("os.fsync")
        sync(descriptor)

    _watch = watch
    try:
        with patch.object(os, "fsync", fsync):
            yield watch
    finally:
        _watch = None
