"""A counter of events that can be armed to strike once at a given one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

Point = TypeVar("Point")


class Striking(Generic[Point]):
    def __init__(self) -> None:
        self.seen: list[str] = []  # counted since arming
        self.at: Point | None = None
        self._strike: Callable[[], None] = lambda: None

    def arm(self, at: Point | None, strike: Callable[[], None]) -> None:
        """Start counting from zero."""
        self.seen = []
        self._strike = strike
        self.at = at

    def disarm(self) -> list[str]:
        """Return what was counted since arming."""
        self.at = None
        return self.seen

    def strike(self) -> None:
        self.at = None
        self._strike()
