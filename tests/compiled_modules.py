"""Spares a copy of the package the compilation of its modules, which takes many seconds."""

import os
import shutil
import sys
from pathlib import Path

import nimbill

PACKAGE = Path(nimbill.__file__).parent


def copy_compiled_modules(copy: Path, prefix: Path) -> None:
    """Copy what this project has compiled to where the interpreter looks with this prefix.

    It compiles what has another time or size than what was compiled.
    """
    if sys.pycache_prefix is None:
        return
    for file in copy.rglob("*.py"):
        original = PACKAGE / file.relative_to(copy)
        if original.is_file() and original.read_bytes() == file.read_bytes():
            os.utime(file, ns=(original.stat().st_atime_ns, original.stat().st_mtime_ns))
    shutil.copytree(
        Path(sys.pycache_prefix) / PACKAGE.relative_to("/"),
        prefix / copy.relative_to("/"),
        ignore=shutil.ignore_patterns("*.pyc.*"),  # another process is writing them
    )
