"""A row of the proof board: its claim, target, sizes and measurement."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from inspect import cleandoc
from pathlib import Path
from types import FrameType
from typing import NoReturn

from tests.proof.broken_variants import BrokenVariant
from tests.proof.row_environment import RowEnvironment

ROWS = Path(__file__).parent / "rows"
MISSES_SHOWN_MAX = 5


@dataclass(frozen=True, slots=True)
class Measurement:
    """Figures for the board and everything that misses the target; without a miss it is green."""

    figures: str
    misses: list[str] = field(default_factory=list)

    @property
    def green(self) -> bool:
        return not self.misses

    def format_misses(self) -> str:
        """The first misses, one per line."""
        more = len(self.misses) - MISSES_SHOWN_MAX
        lines = [*self.misses[:MISSES_SHOWN_MAX], *([f"… and {more} more"] if more > 0 else [])]
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class ProofRow:
    name: str
    claim: str
    target: str
    short: int  # the size in `make test`
    quick: int  # the size with `--quick`, in which the broken variants must be caught
    full: int  # the size in `make prove`
    seconds_max: int  # the watchdog of the quick size; a full run gets as many times longer
    measure: Callable[[RowEnvironment, int], Measurement]
    inside: tuple[str, ...]  # test files that already are this row
    variants: Sequence[BrokenVariant]
    missing: tuple[str, ...] = ()  # what the board asks for and the row does not measure

    def is_full(self, size: int) -> bool:
        """Of a row that samples its cases, a smaller size is the larger part of them."""
        return size <= self.full if self.quick > self.full else size >= self.full

    def run(self, environment: RowEnvironment, size: int) -> Measurement:
        """Measure the row. Exceeding the watchdog's time misses the target."""
        allowed = self.seconds_max * max(1, -(-size // max(self.quick, 1)))
        try:
            with watchdog(allowed):
                return self.measure(environment, size)
        except WatchdogExpired:
            return Measurement("stopped", [f"not finished after the {allowed} s of its watchdog"])


class NotPossibleHere(Exception):
    """This machine lacks what the row needs; the message says what."""


class WatchdogExpired(BaseException):
    """Not an Exception, so that measuring code does not take it for a failed request."""


@contextmanager
def watchdog(seconds: int) -> Iterator[None]:
    """Interrupt the block after this time; works in the main thread only."""

    def expire(_signal: int, _frame: FrameType | None) -> NoReturn:
        raise WatchdogExpired

    before = signal.signal(signal.SIGALRM, expire)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def row_names() -> list[str]:
    """The names of all rows in the order of the board."""
    return sorted(path.stem.upper() for path in ROWS.glob("*.py") if path.stem != "__init__")


def load_rows() -> dict[str, ProofRow]:
    return {name: load_row(name) for name in row_names()}


def load_row(name: str) -> ProofRow:
    """Import the file of this row only."""
    module = import_module(f"tests.proof.rows.{name.lower()}")
    return ProofRow(
        name=name,
        claim=cleandoc(module.__doc__ or "").partition("\n")[0],
        target=module.TARGET,
        short=getattr(module, "SHORT", module.QUICK),
        quick=module.QUICK,
        full=module.FULL,
        seconds_max=module.SECONDS_MAX,
        measure=module.measure,
        inside=getattr(module, "INSIDE", ()),
        variants=module.VARIANTS,
        missing=getattr(module, "MISSING", ()),
    )
