"""Finds files and folders that other users of the machine can access."""

import stat
from pathlib import Path


def list_open_files(folder: Path) -> list[str]:
    """The folder and everything in it that is not 0700 or 0600 or stricter, with its mode.

    Sockets are left out: their folder protects them.
    """
    modes = {path: path.lstat().st_mode for path in (folder, *folder.rglob("*"))}
    return [
        f"{path}: {stat.S_IMODE(mode):o}"
        for path, mode in modes.items()
        if mode & 0o077 and (stat.S_ISREG(mode) or stat.S_ISDIR(mode))
    ]
