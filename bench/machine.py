"""What a measurement ran on: the commit, the machine and the load of it."""

import os
import platform
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[1]
# What a run writes itself does not make the measured program another one.
MEASURED_PATHS = ("src", "bench", "requirements", "pyproject.toml", ":!bench/results")


def find_commit() -> str:
    """The commit that was measured; `+` marks changes of the program that were not committed."""
    commit = _run_git("rev-parse", "--short=10", "HEAD")
    changes = _run_git("status", "--porcelain", "--untracked-files=no", "--", *MEASURED_PATHS)
    return f"{commit}+" if changes else commit


def _run_git(*arguments: str) -> str:
    result = subprocess.run(
        ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return result.stdout.strip()


def count_memory_bytes() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def describe_machine() -> str:
    memory = count_memory_bytes() / 2**30
    return f"{os.cpu_count()} cores {platform.machine()}, {memory:.0f} GiB"


def read_load() -> float:
    """The load average of the last minute: how many processes ran or wanted to run."""
    return round(os.getloadavg()[0], 1)
