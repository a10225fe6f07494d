"""Broken variants: the product with one deliberate fault, for which a proof row must turn red."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.fault_injection.replacements import ROOT, build_sources, environment_with
from tests.fault_injection.startup.sitecustomize import Replacement

# exit codes that an interpreter does not use by itself, except 0
GREEN, RED, NOT_RUN = 0, 10, 11


@dataclass(frozen=True, slots=True)
class BrokenVariant:
    name: str
    fault: str  # what is broken, in one sentence
    expected_text: str  # part of the row's report if it catches this fault and no other
    file: str  # below src/nimbill
    old: str  # occurs exactly once in the file
    new: str
    also: Sequence[Replacement] = ()  # further replacements: file, old, new

    @property
    def replacements(self) -> list[Replacement]:
        return [(self.file, self.old, self.new), *self.also]


@dataclass(frozen=True, slots=True)
class VariantResult:
    variant: BrokenVariant
    caught: bool
    report: str


def check_variants(variants: Iterable[BrokenVariant]) -> None:
    """Raise StaleReplacement if one no longer fits the sources of the product."""
    for variant in variants:
        build_sources(variant.replacements)


def run_variant(row: str, variant: BrokenVariant, *, seed: int, seconds_max: int) -> VariantResult:
    """Run the row in quick size with the fault. It must turn red for the right reason."""
    with tempfile.TemporaryDirectory(prefix="nimbill-variant-") as folder:
        environment = environment_with(variant.replacements, Path(folder))
        code, output = run_proof([row, "--quick", "--no-variants"], environment, seed, seconds_max)
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


def run_proof(
    arguments: Sequence[str], environment: dict[str, str], seed: int, seconds_max: int
) -> tuple[int, str]:
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.proof", *arguments, "--seed", str(seed)],
        cwd=ROOT,
        env={**os.environ, **environment},
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
