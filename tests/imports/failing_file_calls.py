"""Makes the n-th file call below a folder fail, in this process."""

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
    "disk full": errno.ENOSPC,
    "disk unreadable": errno.EIO,
    "too many open files": errno.EMFILE,
    "out of memory": errno.ENOMEM,
}
# events of Python's audit hooks; fsync has none and is patched
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
    """Only the n-th call fails; `failed` is its name, or empty if there were fewer calls."""
    global _watch, _hooked
    if not _hooked:
        sys.addaudithook(_hook)  # hooks cannot be removed, so that the hook checks `_watch`
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
