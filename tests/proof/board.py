"""The board: a few lines for each row, and a code that is 0 only when all of it holds."""

from __future__ import annotations

import textwrap
import time
import traceback
from dataclasses import dataclass, field

from tests.proof.broken_variants import GREEN, NOT_RUN, RED, Caught, StalePatch, run_twin, twins_of
from tests.proof.row import Measured, Row
from tests.proof.stage import Stage, say

TWIN_SECONDS_MAX = 900
WIDTH = 110


@dataclass
class Line:
    row: Row
    measured: Measured | None = None  # None: only its twins were run
    trouble: str = ""  # why it could not be run
    twins: list[Caught] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def code(self) -> int:
        if self.trouble:
            return NOT_RUN
        green = self.measured is None or self.measured.green
        return GREEN if green and all(twin.caught for twin in self.twins) else RED

    def shown(self) -> str:
        """The figures of the row, then whatever is wrong with it."""
        state = {GREEN: "green", RED: "RED", NOT_RUN: "NOT RUN"}[self.code]
        caught = sum(twin.caught for twin in self.twins)
        twins = f"twins caught {caught}/{len(self.twins)}" if self.twins else "twins not run"
        said = self.measured.said if self.measured else "only its twins were run"
        wrong = [self.trouble, self.measured.shown() if self.measured else ""]
        wrong += [f"{one.twin.what}: {one.report}" for one in self.twins if not one.caught]
        return "\n".join(
            [
                f"{self.row.name:3} {state:7} {twins:17} {self.seconds:6.0f} s  {self.row.claim}",
                _wrapped("target    ", self.row.target),
                _wrapped("measured  ", said),
                *[textwrap.indent(text, "    !! ") for text in wrong if text],
            ]
        )


def _wrapped(name: str, text: str) -> str:
    return textwrap.fill(
        text, WIDTH, initial_indent=f"    {name}", subsequent_indent=" " * (4 + len(name))
    )


def run_row(row: Row, stage: Stage, *, size: int | None, twins: bool, twin_seed: int) -> Line:
    """Measure a row at this size (None: not at all), then run its broken twins."""
    line, began = Line(row), time.monotonic()
    try:
        if size is not None:
            say(f"{row.name}: {row.claim} Size {size}, seed {stage.seed}.")
            line.measured = row.measured(stage, size)
        for twin in twins_of(row.name) if twins else []:
            say(f"{row.name}, broken twin {twin.what}: {twin.story}")
            line.twins.append(run_twin(twin, seed=twin_seed, seconds_max=TWIN_SECONDS_MAX))
    except StalePatch as stale:
        line.trouble = str(stale)
    except Exception:  # noqa: BLE001  # the other rows are still to be run
        line.trouble = traceback.format_exc()
    line.seconds = time.monotonic() - began
    return line


def show_board(lines: list[Line], seed: int) -> str:
    green = sum(line.code == GREEN for line in lines)
    return "\n".join(
        [*[line.shown() for line in lines], f"{green} of {len(lines)} rows green; seed {seed}"]
    )
