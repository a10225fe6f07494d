"""fsync for files and folders. A new file survives a power loss once its folder is synced too."""

import os
from pathlib import Path


def fsync_path(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
