"""Mounts the file system that loses what was not synced, cuts its power, and mounts it again."""

from __future__ import annotations

import ctypes
import ctypes.util
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.proof.row import NotPossibleHere

ROOT = Path(__file__).parents[3]
SWITCH = "user.disk"
SECONDS_MAX = 60
MOUNT_REFUSED = "mounting a disk needs Linux, root with all its rights and /dev/fuse"
SYSTEM_ADMINISTRATION = 21  # the number of the capability to mount
DETACH = 2  # of umount2: also while files are open

_libc = ctypes.CDLL(None, use_errno=True)


def require_fuse() -> None:
    """Say why a file system of our own cannot be mounted here."""
    if sys.platform != "linux" or not _may_mount():
        raise NotPossibleHere(MOUNT_REFUSED)
    if ctypes.util.find_library("fuse3") is None:
        raise NotPossibleHere(
            "libfuse3 is not installed (Debian and Ubuntu: apt-get install fuse3)"
        )


def _may_mount() -> bool:
    """Containers often forbid it, or have no access to the device."""
    status = Path("/proc/self/status").read_text()
    rights = int(status.partition("CapEff:")[2].split()[0], 16)
    try:
        os.close(os.open("/dev/fuse", os.O_RDWR))
    except OSError:
        return False
    return os.geteuid() == 0 and bool(rights >> SYSTEM_ADMINISTRATION & 1)


class MountedDisk:
    """`folder` is where the files are seen; what is written there before the first mount stays."""

    def __init__(self, place: Path) -> None:
        self.folder = place / "disk"
        self._store, self._log = place / "store", place / "disk.log"
        self._durable = self._store / "durable"
        self._process: subprocess.Popen[bytes] | None = None
        for folder in (self.folder, self._store):
            folder.mkdir(mode=0o755)

    def mount(self) -> None:
        """At the first time, everything in the folder becomes durable."""
        if not self._durable.exists():
            self.folder.rename(self._durable)
            self.folder.mkdir(mode=0o755)
        for name in ("current", "contents"):
            shutil.rmtree(self._store / name, ignore_errors=True)
        line = [sys.executable, "-m", "tests.proof.disk.file_system"]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [*line, str(self._store), str(self.folder)],
                cwd=ROOT,
                env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,  # Ctrl-C must not reach it before the others
            )
        until = time.monotonic() + SECONDS_MAX
        while not os.path.ismount(self.folder):
            if self._process.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"not mounted: {self._log.read_text()[-2000:]}")
            time.sleep(0.01)

    def cut_power(self, *, kept_share: float = 0.0, seed: str = "") -> None:
        """From now on every call fails; what was not synced is lost."""
        self._switch({"cut": {"kept_share": kept_share, "seed": seed}})

    def unmount(self) -> None:
        """After a cut, once the processes that used it have ended."""
        _libc.umount2(os.fsencode(self.folder), DETACH)
        if self._process is not None:
            self._process.kill()
            self._process.wait(SECONDS_MAX)
            self._process = None

    def fail_call(
        self,
        number: int,
        code: int,
        *,
        calls: Sequence[str] = (),
        below: str = "/",
        lasting: bool = False,
    ) -> None:
        order = {"number": number, "code": code, "calls": calls, "below": below}
        self._switch({"fail": {**order, "lasting": lasting}})

    def stop_failing(self) -> str:
        """Return the call that failed, or nothing."""
        found: dict[str, Any] = json.loads(os.getxattr(self.folder, SWITCH))
        self._switch({"fail": {}})
        return str(found["failed"])

    def _switch(self, order: dict[str, Any]) -> None:
        os.setxattr(self.folder, SWITCH, json.dumps(order).encode())


@contextmanager
def mounted_disk(place: Path) -> Iterator[MountedDisk]:
    """A disk that is not mounted yet; at the end it is not mounted any more."""
    require_fuse()
    disk = MountedDisk(place)
    try:
        yield disk
    finally:
        disk.unmount()
