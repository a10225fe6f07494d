"""Broken twins: copies of the project with one patch, in which a row must go red."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
TWINS = Path(__file__).parent / "broken_variants"
SEEN_AS = "Seen as: "

GREEN, RED, NOT_RUN = 0, 10, 11  # none that an interpreter ends with by itself

# neither needed in a copy nor small
LEFT_OUT = (".git", ".venv*", ".*cache*", ".hypothesis", "__pycache__", "node_modules", "build")


class StalePatch(Exception):
    """The code has moved on and the patch has not; it proves nothing until it is renewed."""


@dataclass(frozen=True, slots=True)
class Twin:
    row: str
    what: str
    patch: Path
    story: str  # what is broken, in a sentence
    seen_as: str  # words that stand in the row's report when it catches this and not another fault


@dataclass(frozen=True, slots=True)
class Caught:
    twin: Twin
    caught: bool
    report: str


def twins_of(row: str) -> list[Twin]:
    return [_read(path) for path in sorted(TWINS.glob(f"{row}-*.patch"))]


def _read(path: Path) -> Twin:
    row, _, what = path.stem.partition("-")
    opening = path.read_text().partition("\ndiff --git")[0].splitlines()
    seen_as = [line.removeprefix(SEEN_AS) for line in opening if line.startswith(SEEN_AS)]
    if len(opening) < 2 or len(seen_as) != 1 or not seen_as[0].strip():
        raise ValueError(f"{path.name} must open with a sentence and a line '{SEEN_AS}…'")
    return Twin(row, what, path, opening[0], seen_as[0].strip())


@contextmanager
def copy_of_project(without: tuple[str, ...] = ()) -> Iterator[Path]:
    """A folder with everything a row needs; nothing in it leads back to the original."""
    with tempfile.TemporaryDirectory(prefix="nimbill-twin-") as folder:
        copy = Path(folder) / "project"
        left_out = shutil.ignore_patterns(*LEFT_OUT, *without)
        shutil.copytree(ROOT, copy, ignore=left_out, symlinks=False)
        yield copy


def apply_patch(copy: Path, patch: Path, *, only_check: bool = False) -> None:
    """Cleanly, or StalePatch; the folder is no repository, so git looks at nothing else."""
    line = ["git", "apply", "--whitespace=nowarn", *(["--check"] if only_check else []), str(patch)]
    env = {**os.environ, "GIT_CEILING_DIRECTORIES": str(copy.parent)}
    env.pop("GIT_DIR", None)
    done = subprocess.run(line, cwd=copy, env=env, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise StalePatch(f"{patch.name} does not apply any more:\n{done.stderr.strip()}")


def run_twin(twin: Twin, *, seed: int, seconds_max: int) -> Caught:
    """The row's quick size against the broken copy: it must go red, for the right reason."""
    with copy_of_project() as copy:
        apply_patch(copy, twin.patch)
        code, said = run_in(copy, [twin.row, "--quick", "--no-twins"], seed, seconds_max)
    if code == GREEN:
        return Caught(twin, False, "the row stayed green")
    if code != RED:
        return Caught(twin, False, f"the row could not be run:\n{said[-3000:]}")
    if twin.seen_as not in said:
        return Caught(twin, False, f"red, but not for “{twin.seen_as}”:\n{said[-3000:]}")
    return Caught(twin, True, said)


def run_in(copy: Path, words: list[str], seed: int, seconds_max: int) -> tuple[int, str]:
    """Run the proof of a copy; its own sources come first, whatever this environment installed."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.proof", *words, "--seed", str(seed)],
        cwd=copy,
        env={**os.environ, "PYTHONPATH": f"{copy / 'src'}{os.pathsep}{copy}"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    try:
        said, _ = process.communicate(timeout=seconds_max)
    except subprocess.TimeoutExpired:
        process.kill()
        said, _ = process.communicate()
        return NOT_RUN, f"{said}\nnot done after {seconds_max} s"
    return process.returncode, said
