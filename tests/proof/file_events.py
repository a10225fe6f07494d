"""Reports changes to the files of a folder as they happen."""

from __future__ import annotations

import ctypes
import os
import select
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.proof.event_trigger import EventTrigger

CREATED, WRITTEN, CLOSED, MOVED_IN, REMOVED = 0x100, 0x2, 0x8, 0x80, 0x200
WATCHED = CREATED | WRITTEN | CLOSED | MOVED_IN | REMOVED
NAMES = {
    CREATED: "created",
    WRITTEN: "written",
    CLOSED: "closed",
    MOVED_IN: "renamed",
    REMOVED: "removed",
}
IS_FOLDER = 0x40000000
HEAD = struct.Struct("iIII")

_libc = ctypes.CDLL(None, use_errno=True)


class FileEvents(EventTrigger[int]):
    """Counts changes below a folder after arming; can fire at the n-th."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._handle = _libc.inotify_init1(os.O_CLOEXEC)
        self._folders: dict[int, Path] = {}
        self._watch(folder)

    def _watch(self, folder: Path) -> None:
        """Later folders are watched as soon as they are reported."""
        number = _libc.inotify_add_watch(self._handle, os.fsencode(folder), WATCHED)
        if number < 0:
            return  # removed meanwhile
        self._folders[number] = folder
        for entry in folder.iterdir():
            if entry.is_dir() and not entry.is_symlink():
                self._watch(entry)

    def listen(self, stopped: threading.Event) -> None:
        while not stopped.is_set():
            if select.select([self._handle], [], [], 0.1)[0]:
                self._read(os.read(self._handle, 65_536))
        os.close(self._handle)

    def _read(self, buffer: bytes) -> None:
        while buffer:
            number, mask, _, length = HEAD.unpack_from(buffer)
            name = os.fsdecode(buffer[HEAD.size : HEAD.size + length].rstrip(b"\0"))
            buffer = buffer[HEAD.size + length :]
            folder = self._folders.get(number)
            if folder is None:
                continue
            if mask & IS_FOLDER and mask & CREATED:
                self._watch_if_exists(folder / name)
            change = next((text for bit, text in NAMES.items() if mask & bit), "")
            if change:
                self._count(f"{change} {folder.name}/{name}")

    def _watch_if_exists(self, folder: Path) -> None:
        try:
            self._watch(folder)
        except OSError:
            return

    def _count(self, text: str) -> None:
        self.events.append(text)
        if len(self.events) == self.point:
            self.fire()


@contextmanager
def file_events(folder: Path) -> Iterator[FileEvents]:
    events, stopped = FileEvents(folder), threading.Event()
    thread = threading.Thread(target=events.listen, args=(stopped,), daemon=True)
    thread.start()
    try:
        yield events
    finally:
        stopped.set()
        thread.join()
