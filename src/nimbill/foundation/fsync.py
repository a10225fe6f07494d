"""What must outlast a power cut: a file's content and, once its folder is synced too, its name."""

import os
from pathlib import Path


def fsync_path(path: Path) -> None:
    """A folder or a file, to disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
