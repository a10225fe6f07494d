"""Broken variants: copies of the project with one patch, for which a proof row must turn red."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
VARIANTS = Path(__file__).parent / "broken_variants"
SEEN_AS = "Seen as: "

# exit codes that an interpreter does not use by itself, except 0
GREEN, RED, NOT_RUN = 0, 10, 11

# what a copy does not need: large folders, and the data of a demo that may be running
EXCLUDED = (
    ".git",
    ".nimbill*",
    ".venv*",
    ".*cache*",
    ".hypothesis",
    "__pycache__",
    "node_modules",
    "build",
)
PACKAGES = ("src", "client/src", "tests")
TEST_MODULES = shutil.ignore_patterns("*-pytest-*", "*.tmp*", "*.pyc.*")


class StalePatch(Exception):
    """The patch no longer applies to the code and must be created again."""


@dataclass(frozen=True, slots=True)
class BrokenVariant:
    row: str
    name: str
    patch: Path
    fault: str  # what is broken, in one sentence
    expected_text: str  # part of the row's report if it catches this fault and no other


@dataclass(frozen=True, slots=True)
class VariantResult:
    variant: BrokenVariant
    caught: bool
    report: str


def variants_of(row: str) -> list[BrokenVariant]:
    return [_read_variant(path) for path in sorted(VARIANTS.glob(f"{row}-*.patch"))]


def _read_variant(path: Path) -> BrokenVariant:
    row, _, name = path.stem.partition("-")
    header = path.read_text().partition("\ndiff --git")[0].splitlines()
    expected = [line.removeprefix(SEEN_AS) for line in header if line.startswith(SEEN_AS)]
    if len(header) < 2 or len(expected) != 1 or not expected[0].strip():
        raise ValueError(f"{path.name} must begin with a sentence and a line '{SEEN_AS}…'")
    return BrokenVariant(row, name, path, header[0], expected[0].strip())


@contextmanager
def copy_project(without: tuple[str, ...] = ()) -> Iterator[Path]:
    """A temporary copy with everything a row needs; it contains no link to the original."""
    with tempfile.TemporaryDirectory(prefix="nimbill-variant-") as folder:
        copy = Path(folder) / "project"
        ignore_named = shutil.ignore_patterns(*EXCLUDED, *without)

        def ignore(source: str, names: list[str]) -> set[str]:
            """Also ignore sockets and pipes, and files that have just been removed."""
            special = {
                name
                for name in names
                if not ((path := Path(source, name)).is_dir() or path.is_file())
            }
            return ignore_named(source, names) | special

        shutil.copytree(ROOT, copy, ignore=ignore, symlinks=False)
        with with_compiled_modules(copy):
            yield copy


@contextmanager
def with_compiled_modules(copy: Path) -> Iterator[None]:
    """Copy the compiled modules, too, because compiling all of them takes many seconds.

    The interpreter compiles a module again whose source has changed. Test modules name their source
    and are left out.
    """
    if sys.pycache_prefix is None:
        yield
        return
    compiled, compiled_copy = (
        Path(sys.pycache_prefix, path.relative_to("/")) for path in (ROOT.resolve(), copy.resolve())
    )
    try:
        for package in PACKAGES:
            if (compiled / package).exists():
                shutil.copytree(compiled / package, compiled_copy / package, ignore=TEST_MODULES)
        yield
    finally:
        shutil.rmtree(compiled_copy, ignore_errors=True)


def apply_patch(copy: Path, patch: Path, *, only_check: bool = False) -> None:
    """Apply the patch, or raise StalePatch. A copy is not a git repository."""
    command = ["git", "apply", "--whitespace=nowarn", *(["--check"] if only_check else [])]
    env = {**os.environ, "GIT_CEILING_DIRECTORIES": str(copy.parent)}
    env.pop("GIT_DIR", None)
    result = subprocess.run(
        [*command, str(patch)], cwd=copy, env=env, capture_output=True, text=True, check=False
    )
    if result.returncode != 0:
        raise StalePatch(f"{patch.name} no longer applies:\n{result.stderr.strip()}")


def check_patches(variants: Sequence[BrokenVariant]) -> None:
    """Raise StalePatch if one no longer applies to the project."""
    for variant in variants:
        apply_patch(ROOT, variant.patch, only_check=True)


def run_variant(variant: BrokenVariant, *, seed: int, seconds_max: int) -> VariantResult:
    """Run the row in quick size against the broken copy. It must turn red for the right reason."""
    with copy_project() as copy:
        apply_patch(copy, variant.patch)
        arguments = [variant.row, "--quick", "--no-variants"]
        code, output = run_proof_in(copy, arguments, seed, seconds_max)
    if code == GREEN:
        return VariantResult(variant, False, "the row stayed green")
    if code != RED:
        return VariantResult(variant, False, f"the row could not be run:\n{output[-3000:]}")
    if not mentions(output, variant.expected_text):
        reason = f"red, but not for “{variant.expected_text}”:\n{output[-3000:]}"
        return VariantResult(variant, False, reason)
    return VariantResult(variant, True, output)


def mentions(output: str, text: str) -> bool:
    """Whether the output contains the text, which it may have broken into lines."""
    return " ".join(text.split()) in " ".join(output.split())


def run_proof_in(copy: Path, arguments: list[str], seed: int, seconds_max: int) -> tuple[int, str]:
    """Run the proof of a copy with the copy's own sources first on the path."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.proof", *arguments, "--seed", str(seed)],
        cwd=copy,
        env={**os.environ, "PYTHONPATH": f"{copy / 'src'}{os.pathsep}{copy}"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    try:
        output, _ = process.communicate(timeout=seconds_max)
    except subprocess.TimeoutExpired:
        process.kill()
        output, _ = process.communicate()
        return NOT_RUN, f"{output}\nnot finished after {seconds_max} s"
    return process.returncode, output
