"""What survives a power cut: contents and names that were synced.

The model, which is stricter than most file systems where they differ:

- The content and the size of a file survive as of its last fsync.
- A name survives if, after it was created, its folder or the file itself was synced. A new folder
  survives only if its parent was synced: syncing what it contains is not enough.
- A removed name comes back, unless its folder was synced afterwards.
- A rename happens completely or not at all; a sync of either folder, or of the file, makes it
  survive.
- Modes are durable at once. Sockets and times do not survive.
- Of what was not synced, nothing survives; or, if `kept_share` says so, a random part of the pages
  of each file.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

PAGE = 4096
CHUNK = 2**20


@dataclass(eq=False)
class KnownFile:
    """A file or folder, by whatever names."""

    is_folder: bool
    changed: list[tuple[int, int]] = field(default_factory=list)  # not synced: begin and end
    names: dict[str, KnownFile] = field(default_factory=dict)  # durable entries of a folder
    renamed_to: tuple[KnownFile, str] | None = None  # folder and name, not durable yet
    renamed_from: tuple[KnownFile, str] | None = None
    content: str = ""  # the path of its durable content, once there is one


class DurableState:
    """`current` is the folder that programs see, `contents` has durable contents of new files.

    Files of `current` are known by their inode number until their last name is removed.
    """

    def __init__(self, current: Path, contents: Path, initial: Path) -> None:
        """Everything in `initial` is durable, and `current` is a copy of it."""
        self._current, self._contents = str(current), str(contents)
        self._known: dict[int, KnownFile] = {}
        self._new_contents = 0
        self._root = self._register(self._current, str(initial))

    def _register(self, current: str, initial: str) -> KnownFile:
        """Take over a folder or file, with all that it contains."""
        known = self._add(os.lstat(current))
        if known.is_folder:
            for name in os.listdir(initial):
                known.names[name] = self._register(f"{current}/{name}", f"{initial}/{name}")
        else:
            known.content = initial
        return known

    def _add(self, status: os.stat_result) -> KnownFile:
        known = KnownFile(stat.S_ISDIR(status.st_mode))
        self._known[status.st_ino] = known
        return known

    def find(self, status: os.stat_result) -> KnownFile:
        return self._known.get(status.st_ino) or self._add(status)

    def find_path(self, path: str) -> KnownFile:
        return self.find(os.lstat(path))

    def forget(self, status: os.stat_result) -> None:
        """Its last name was removed: its inode number may soon belong to another file."""
        self._known.pop(status.st_ino, None)

    # ── changes ──────────────────────────────────────────────────────────────────────────────────

    def change(self, known: KnownFile, begin: int, end: int) -> None:
        last = known.changed[-1] if known.changed else None
        if last is not None and last[0] <= begin <= last[1]:
            known.changed[-1] = (last[0], max(last[1], end))
        else:
            known.changed.append((begin, end))

    def rename(self, known: KnownFile, old: tuple[str, str], new: tuple[str, str]) -> None:
        """Both are a folder's path in `current` and a name."""
        old_folder, new_folder = self.find_path(old[0]), self.find_path(new[0])
        if known.renamed_from is None and old_folder.names.get(old[1]) is known:
            known.renamed_from = (old_folder, old[1])
        known.renamed_to = (new_folder, new[1])

    # ── syncs ────────────────────────────────────────────────────────────────────────────────────

    def sync_file(self, known: KnownFile, handle: int) -> None:
        if not known.content:
            self._new_contents += 1
            known.content = f"{self._contents}/{self._new_contents}"
        target = os.open(known.content, os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            for begin, end in known.changed:
                _copy_range(handle, target, begin, end)
            status = os.fstat(handle)
            os.ftruncate(target, status.st_size)
            os.fchmod(target, stat.S_IMODE(status.st_mode))
        finally:
            os.close(target)
        known.changed.clear()

    def sync_name(self, folder: str, name: str, known: KnownFile) -> None:
        """Make one name durable, if it still belongs to this file."""
        try:
            if self.find_path(f"{folder}/{name}") is not known:
                return
        except FileNotFoundError:
            return
        self._keep_name(self.find_path(folder), name, known)

    def sync_folder(self, path: str) -> None:
        folder = self.find_path(path)
        present: dict[str, KnownFile] = {}
        with os.scandir(path) as entries:
            for entry in entries:
                status = entry.stat(follow_symlinks=False)
                if stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode):
                    present[entry.name] = self.find(status)
        removed = [known for name, known in folder.names.items() if present.get(name) is not known]
        folder.names = {}
        for name, known in present.items():
            self._keep_name(folder, name, known)
        for known in removed:
            if known.renamed_to is not None:
                self._keep_name(*known.renamed_to, known)

    def _keep_name(self, folder: KnownFile, name: str, known: KnownFile) -> None:
        folder.names[name] = known
        if known.renamed_from is not None and known.renamed_to == (folder, name):
            old_folder, old_name = known.renamed_from
            if old_folder.names.get(old_name) is known and known.renamed_from != (folder, name):
                del old_folder.names[old_name]
            known.renamed_from = known.renamed_to = None

    # ── the cut ──────────────────────────────────────────────────────────────────────────────────

    def write_survivors(self, target: Path, kept_share: float, random: Random) -> None:
        """Build the folder as it is after the cut."""
        if kept_share:
            self._keep_some_pages(kept_share, random)
        self._write(self._root, self._current, str(target))

    def _write(self, known: KnownFile, current: str, target: str) -> None:
        if known.is_folder:
            os.mkdir(target, 0o700)
            for name, child in known.names.items():
                self._write(child, f"{current}/{name}", f"{target}/{name}")
            if os.path.isdir(current):
                os.chmod(target, stat.S_IMODE(os.stat(current).st_mode))
        elif known.content:
            os.link(known.content, target)
        else:  # named, but its content was never synced
            os.close(os.open(target, os.O_WRONLY | os.O_CREAT, 0o600))

    def _keep_some_pages(self, share: float, random: Random) -> None:
        """The disk was writing: of each file that has a durable content, some pages arrived."""
        for folder, _, names in os.walk(self._current):
            for name in names:
                path = f"{folder}/{name}"
                known = self._known.get(os.lstat(path).st_ino)
                if known is not None and known.changed and known.content:
                    _copy_some_pages(path, known, share, random)


def _copy_some_pages(path: str, known: KnownFile, share: float, random: Random) -> None:
    with Path(path).open("rb") as source, Path(known.content).open("r+b") as target:
        for begin, end in known.changed:
            for page in range(begin - begin % PAGE, end, PAGE):
                if random.random() < share:
                    _copy_range(source.fileno(), target.fileno(), page, page + PAGE)


def _copy_range(source: int, target: int, begin: int, end: int) -> None:
    while begin < end:
        data = os.pread(source, min(end - begin, CHUNK), begin)
        if not data:
            return  # beyond the end of the file
        os.pwrite(target, data, begin)
        begin += len(data)
