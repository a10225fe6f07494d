"""The proof board: some lines of text for each row, and an exit code."""

from __future__ import annotations

import textwrap
import time
import traceback
from dataclasses import dataclass, field

from tests.fault_injection.startup.sitecustomize import StaleReplacement
from tests.proof.broken_variants import (
    GREEN,
    NOT_RUN,
    RED,
    VariantResult,
    check_variants,
    run_variant,
)
from tests.proof.row import Measurement, NotPossibleHere, ProofRow
from tests.proof.row_environment import RowEnvironment, print_progress

VARIANT_SECONDS_MAX = 900
WIDTH = 110


@dataclass
class BoardLine:
    row: ProofRow
    measurement: Measurement | None = None  # None: only the variants were run
    error: str = ""  # why the row could not be run
    variants: list[VariantResult] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def code(self) -> int:
        if self.error:
            return NOT_RUN
        green = self.measurement is None or self.measurement.green
        return GREEN if green and all(result.caught for result in self.variants) else RED

    def format(self) -> str:
        """The figures of the row, then everything that is wrong with it."""
        state = {GREEN: "green", RED: "RED", NOT_RUN: "NOT RUN"}[self.code]
        caught = f"variants caught {sum(result.caught for result in self.variants)}"
        variants = f"{caught}/{len(self.variants)}" if self.variants else "variants not run"
        figures = self.measurement.figures if self.measurement else "only variants were run"
        claim = self.row.claim
        problems = [self.error, self.measurement.format_misses() if self.measurement else ""]
        problems += [
            f"{result.variant.name}: {result.report}"
            for result in self.variants
            if not result.caught
        ]
        return "\n".join(
            [
                f"{self.row.name:3} {state:7} {variants:20} {self.seconds:5.0f} s  {claim}",
                _wrap("target    ", self.row.target),
                _wrap("measured  ", figures),
                *[textwrap.indent(text, "    !! ") for text in problems if text],
            ]
        )


def _wrap(name: str, text: str) -> str:
    return textwrap.fill(
        text, WIDTH, initial_indent=f"    {name}", subsequent_indent=" " * (4 + len(name))
    )


def run_row(
    row: ProofRow,
    environment: RowEnvironment,
    *,
    size: int | None,
    variants: bool,
    variant_seed: int,
) -> BoardLine:
    """Measure a row in this size (None: not at all), then run its broken variants."""
    line, began = BoardLine(row), time.monotonic()
    chosen = row.variants if variants else ()
    try:
        check_variants(chosen)  # first, because a row may take an hour
        if size is not None:
            print_progress(f"{row.name}: {row.claim} Size {size}, seed {environment.seed}.")
            line.measurement = row.run(environment, size)
        for variant in chosen:
            print_progress(f"{row.name}, broken variant {variant.name}: {variant.fault}")
            result = run_variant(
                row.name, variant, seed=variant_seed, seconds_max=VARIANT_SECONDS_MAX
            )
            line.variants.append(result)
    except (NotPossibleHere, StaleReplacement) as reason:
        line.error = str(reason)
    except Exception:  # noqa: BLE001  # the other rows must still run
        line.error = traceback.format_exc()
    line.seconds = time.monotonic() - began
    return line


def format_board(lines: list[BoardLine], seed: int) -> str:
    green = sum(line.code == GREEN for line in lines)
    return "\n".join(
        [*[line.format() for line in lines], f"{green} of {len(lines)} rows green; seed {seed}"]
    )
