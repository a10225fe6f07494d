"""The process of the file system: python -m tests.proof.disk.file_system STORE MOUNT

It passes every call to a folder, and keeps what a power cut would leave in another one. The
extended attribute `user.disk` of its root is its switch: a cut, or a call that shall fail. One
thread serves all calls, one after the other.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import mfusepy
from mfusepy import FUSE, FuseOSError, Operations

from tests.proof.disk.disk_fault import DiskFault
from tests.proof.disk.durable_state import DurableState, KnownFile

SWITCH = "user.disk"
TIMEOUT_SECONDS = 60  # of what the kernel remembers; nobody else changes the files
ATTRIBUTES = ("mode", "nlink", "uid", "gid", "size", "ino")
TIMES = ("atime", "mtime", "ctime")


class LosingFileSystem(Operations):  # type: ignore[misc]  # the library has no types
    """Names of the methods are those of the calls."""

    use_ns = True

    def __init__(self, store: Path) -> None:
        self._store, self._current = store, str(store / "current")
        copy = ["cp", "--archive", str(store / "durable"), self._current]
        subprocess.run(copy, check=True)
        contents = store / "contents"
        contents.mkdir()
        self._state = DurableState(store / "current", contents, store / "durable")
        self._opened: dict[int, tuple[KnownFile, str]] = {}  # by handle: the file and its path
        self._is_cut = False
        self._failing = DiskFault()

    def init_with_config(self, _connection: Any, config: Any) -> None:
        """Calls of an open file have its handle, also after its name was removed."""
        if config is not None:
            config.hard_remove = config.nullpath_ok = 1
            config.entry_timeout = config.attr_timeout = TIMEOUT_SECONDS

    def _check(self, call: str, path: str) -> None:
        if self._is_cut:
            raise FuseOSError(errno.EIO)
        code = self._failing.count(call, path)
        if code:
            raise FuseOSError(code)

    # ── the switch ───────────────────────────────────────────────────────────────────────────────

    def setxattr(self, path: str, name: str, value: bytes, options: int, position: int = 0) -> int:
        if (path, name) != ("/", SWITCH):
            raise FuseOSError(errno.EOPNOTSUPP)
        order = json.loads(value)
        if "cut" in order:
            self._cut(order["cut"]["kept_share"], order["cut"]["seed"])
        else:
            self._failing = DiskFault(**order["fail"])
        return 0

    def getxattr(self, path: str, name: str, position: int = 0) -> bytes:
        if (path, name) != ("/", SWITCH):
            raise FuseOSError(errno.ENODATA)
        return json.dumps(
            {"counted": self._failing.counted, "failed": self._failing.failed}
        ).encode()

    def _cut(self, kept_share: float, seed: str) -> None:
        self._is_cut = True
        survivors = self._store / "survivors"
        self._state.write_survivors(survivors, kept_share, Random(seed))
        shutil.rmtree(self._store / "durable")
        survivors.rename(self._store / "durable")

    # ── names ────────────────────────────────────────────────────────────────────────────────────

    def _real(self, path: str) -> str:
        return self._current + path

    def find_opened(self, handle: int) -> str:
        return _find_path(handle).removeprefix(self._current)

    def getattr(self, path: str, fh: int | None = None) -> dict[str, Any]:
        if self._is_cut:
            raise FuseOSError(errno.EIO)
        status = os.lstat(self._real(path)) if fh is None else os.fstat(fh)
        attributes: dict[str, Any] = {
            f"st_{name}": getattr(status, f"st_{name}") for name in ATTRIBUTES
        }
        attributes["st_blocks"] = status.st_blocks
        return attributes | {f"st_{name}": getattr(status, f"st_{name}_ns") for name in TIMES}

    def opendir(self, path: str) -> int:
        self._check("open", path)
        return os.open(self._real(path), os.O_RDONLY | os.O_DIRECTORY)

    def readdir(self, path: str, fh: int) -> list[str]:
        return [".", "..", *os.listdir(fh)]

    def releasedir(self, path: str, fh: int) -> int:
        os.close(fh)
        return 0

    def mkdir(self, path: str, mode: int) -> int:
        self._check("mkdir", path)
        os.mkdir(self._real(path), mode)
        self._give_to_caller(path)
        return 0

    def mknod(self, path: str, mode: int, dev: int) -> int:
        self._check("open", path)
        os.mknod(self._real(path), mode, dev)
        self._give_to_caller(path)
        return 0

    def _give_to_caller(self, path: str) -> None:
        uid, gid, _ = mfusepy.fuse_get_context()
        os.lchown(self._real(path), uid, gid)

    def link(self, target: str, source: str) -> int:
        """Here the target is the new name."""
        self._check("link", target)
        os.link(self._real(source), self._real(target))
        return 0

    def rename(self, old: str, new: str) -> int:
        self._check("rename", new)
        old_path, new_path = self._real(old), self._real(new)
        known, replaced = self._state.find_path(old_path), None
        if os.path.lexists(new_path):
            replaced = os.lstat(new_path)
        os.rename(old_path, new_path)
        if replaced is not None and replaced.st_nlink == 1:
            self._state.forget(replaced)
        self._state.rename(known, _split(old_path), _split(new_path))
        return 0

    def unlink(self, path: str) -> int:
        self._check("unlink", path)
        status = os.lstat(self._real(path))
        os.unlink(self._real(path))
        if status.st_nlink == 1:
            self._state.forget(status)
        return 0

    def rmdir(self, path: str) -> int:
        self._check("rmdir", path)
        status = os.lstat(self._real(path))
        os.rmdir(self._real(path))
        self._state.forget(status)
        return 0

    def chmod(self, path: str, mode: int) -> int:
        os.chmod(self._real(path), mode)
        return 0

    def chown(self, path: str, uid: int, gid: int) -> int:
        os.lchown(self._real(path), uid, gid)
        return 0

    def utimens(self, path: str, times: tuple[int, int] | None = None) -> int:
        if times is None:
            os.utime(self._real(path))
        else:
            os.utime(self._real(path), ns=times)
        return 0

    def statfs(self, path: str) -> dict[str, int]:
        found = os.statvfs(self._current)
        names = ("bsize", "frsize", "blocks", "bfree", "bavail", "files", "ffree", "favail")
        return {f"f_{name}": getattr(found, f"f_{name}") for name in (*names, "namemax")}

    # ── contents ─────────────────────────────────────────────────────────────────────────────────

    def create(self, path: str, mode: int, fi: Any = None) -> int:
        self._check("open", path)
        handle = os.open(self._real(path), os.O_RDWR | os.O_CREAT | os.O_TRUNC, mode)
        self._give_to_caller(path)
        self._opened[handle] = (self._state.find(os.fstat(handle)), path)
        return handle

    def open(self, path: str, flags: int) -> int:
        self._check("open", path)
        handle = os.open(self._real(path), os.O_RDWR)
        self._opened[handle] = (self._state.find(os.fstat(handle)), path)
        if flags & os.O_TRUNC:
            self._truncate(handle, 0)
        return handle

    def read(self, path: str, size: int, offset: int, fh: int) -> bytes:
        self._check("read", self._opened[fh][1])
        return os.pread(fh, size, offset)

    def write(self, path: str, data: bytes, offset: int, fh: int) -> int:
        known, opened_path = self._opened[fh]
        self._check("write", opened_path)
        self._state.change(known, offset, offset + len(data))
        return os.pwrite(fh, data, offset)

    def truncate(self, path: str, length: int, fh: int | None = None) -> int:
        self._check("write", path or self._opened[fh or 0][1])
        if fh is not None:
            self._truncate(fh, length)
            return 0
        handle = os.open(self._real(path), os.O_RDWR)
        self._opened[handle] = (self._state.find(os.fstat(handle)), path)
        self._truncate(handle, length)
        return self.release(path, handle)

    def _truncate(self, handle: int, length: int) -> None:
        size = os.fstat(handle).st_size
        os.ftruncate(handle, length)
        self._state.change(self._opened[handle][0], min(size, length), max(size, length))

    def fallocate(self, path: str, mode: int, offset: int, size: int, fh: int) -> int:
        self._check("write", self._opened[fh][1])
        if mode:
            raise FuseOSError(errno.EOPNOTSUPP)
        os.posix_fallocate(fh, offset, size)
        self._state.change(self._opened[fh][0], offset, offset + size)
        return 0

    def flush(self, path: str, fh: int) -> int:
        """Called at each close; a close syncs nothing."""
        self._check("close", self._opened[fh][1])
        return 0

    def release(self, path: str, fh: int) -> int:
        self._opened.pop(fh, None)
        os.close(fh)
        return 0

    # ── syncs ────────────────────────────────────────────────────────────────────────────────────

    def fsync(self, path: str, datasync: int, fh: int) -> int:
        known, opened_path = self._opened[fh]
        self._check("fsync", opened_path)
        self._state.sync_file(known, fh)
        self._state.sync_name(*_split(_find_path(fh)), known)
        return 0

    def fsyncdir(self, path: str, datasync: int, fh: int) -> int:
        folder = _find_path(fh)
        self._check("fsync", folder.removeprefix(self._current) or "/")
        self._state.sync_folder(folder)
        return 0


def _find_path(handle: int) -> str:
    """Its present path, also after a rename."""
    return os.readlink(f"/proc/self/fd/{handle}")


class FuseWithHandles(FUSE):  # type: ignore[misc]  # the library has no types
    """The library drops the handle of these calls, which have no path if the file is open."""

    def truncate_fuse_3(self, path: bytes | None, length: int, info: Any) -> int:
        result: int = self.ftruncate(path, length, info)
        return result

    def chmod_fuse_3(self, path: bytes | None, mode: int, info: Any) -> int:
        result: int = super().chmod_fuse_3(path or self._find_path(info), mode, info)
        return result

    def chown_fuse_3(self, path: bytes | None, uid: int, gid: int, info: Any) -> int:
        result: int = super().chown_fuse_3(path or self._find_path(info), uid, gid, info)
        return result

    def utimens_fuse_3(self, path: bytes | None, times: Any, info: Any) -> int:
        result: int = super().utimens_fuse_3(path or self._find_path(info), times, info)
        return result

    def _find_path(self, info: Any) -> bytes:
        return os.fsencode(self.operations.find_opened(info.contents.fh))


def _split(path: str) -> tuple[str, str]:
    """The folder and the name."""
    folder, _, name = path.rpartition("/")
    return folder, name


def main() -> None:
    store, mount = Path(sys.argv[1]), sys.argv[2]
    os.umask(0)  # the modes of callers are complete
    assert stat.S_ISDIR(os.stat(mount).st_mode)
    FuseWithHandles(
        LosingFileSystem(store),
        mount,
        foreground=True,
        nothreads=True,
        allow_other=True,
        default_permissions=True,
        fsname="losing-disk",
    )


if __name__ == "__main__":
    main()
