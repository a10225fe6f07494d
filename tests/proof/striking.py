"""Who counts what happens may be armed to strike at a point of it, once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

Point = TypeVar("Point")


class Striking(Generic[Point]):
    def __init__(self) -> None:
        self.seen: list[str] = []  # what was counted since it was armed
        self.at: Point | None = None
        self._strike: Callable[[], None] = lambda: None

    def arm(self, at: Point | None, strike: Callable[[], None]) -> None:
        """From here on everything is counted anew."""
        self.seen = []
        self._strike = strike
        self.at = at

    def disarm(self) -> list[str]:
        """What was counted since it was armed."""
        self.at = None
        return self.seen

    def strike(self) -> None:
        self.at = None
        self._strike()
