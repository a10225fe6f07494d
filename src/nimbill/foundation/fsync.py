"""fsync for files and folders. A new file survives a power loss once its folder is synced too."""

import os
from pathlib import Path


def fsync_path(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def fsync_tree(folder: Path) -> None:
    """Sync every file and folder below the folder, and the folder itself."""
    for parent, _, names in os.walk(folder, topdown=False):
        for name in names:
            fsync_path(Path(parent, name))
        fsync_path(Path(parent))


def create_folder(folder: Path, mode: int = 0o777) -> None:
    """Create the folder and its parents if they are missing; each survives a power loss.

    The mode does not apply to parents.
    """
    if folder.is_dir():
        return
    create_folder(folder.parent)
    folder.mkdir(mode=mode, exist_ok=True)
    fsync_path(folder.parent)
