"""What a row of the board is: its claim, its target, its sizes, and what it measured."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from inspect import cleandoc
from pathlib import Path
from types import FrameType
from typing import NoReturn

from tests.proof.stage import Stage

ROWS = Path(__file__).parent / "rows"
MISSES_SHOWN_MAX = 5


@dataclass(frozen=True, slots=True)
class Measured:
    """Figures for the board, and whatever misses the target; no miss means green."""

    said: str
    misses: list[str] = field(default_factory=list)

    @property
    def green(self) -> bool:
        return not self.misses

    def shown(self) -> str:
        """The first misses, one a line."""
        more = len(self.misses) - MISSES_SHOWN_MAX
        lines = [*self.misses[:MISSES_SHOWN_MAX], *([f"… and {more} more"] if more > 0 else [])]
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Row:
    name: str
    claim: str
    target: str
    quick: int  # the size in `make test`
    full: int  # the size in `make prove`
    seconds_max: int  # the watchdog of the quick size; a full run gets as many times longer
    measure: Callable[[Stage, int], Measured]
    inside: tuple[str, ...]  # test files that are this row at its quick size already

    def measured(self, stage: Stage, size: int) -> Measured:
        """Run it; what takes longer than the watchdog allows misses the target."""
        allowed = self.seconds_max * max(1, -(-size // max(self.quick, 1)))
        try:
            with watchdog(allowed):
                return self.measure(stage, size)
        except WatchdogBitten:
            return Measured("stopped", [f"not done after the {allowed} s of its watchdog"])


class WatchdogBitten(BaseException):
    """Not an Exception, so that no measuring code takes it for a failing request."""


@contextmanager
def watchdog(seconds: int) -> Iterator[None]:
    """Ends the block from outside when it hangs; the main thread's only."""

    def bite(_signal: int, _frame: FrameType | None) -> NoReturn:
        raise WatchdogBitten

    before = signal.signal(signal.SIGALRM, bite)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def row_names() -> list[str]:
    """In the order of the board."""
    return sorted(path.stem.upper() for path in ROWS.glob("*.py") if path.stem != "__init__")


def all_rows() -> dict[str, Row]:
    return {name: row_named(name) for name in row_names()}


def row_named(name: str) -> Row:
    """Loads this row's file and no other's."""
    module = import_module(f"tests.proof.rows.{name.lower()}")
    return Row(
        name=name,
        claim=cleandoc(module.__doc__ or "").partition("\n")[0],
        target=module.TARGET,
        quick=module.QUICK,
        full=module.FULL,
        seconds_max=module.SECONDS_MAX,
        measure=module.measure,
        inside=getattr(module, "INSIDE", ()),
    )
