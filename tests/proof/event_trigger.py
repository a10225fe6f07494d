"""A counter of events that can be armed to fire once at a given one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

Point = TypeVar("Point")


class EventTrigger(Generic[Point]):
    def __init__(self) -> None:
        self.seen: list[str] = []  # counted since arming
        self.at: Point | None = None
        self._fire: Callable[[], None] = lambda: None

    def arm(self, at: Point | None, fire: Callable[[], None]) -> None:
        """Start counting from zero."""
        self.seen = []
        self._fire = fire
        self.at = at

    def disarm(self) -> list[str]:
        """Return what was counted since arming."""
        self.at = None
        return self.seen

    def fire(self) -> None:
        self.at = None
        self._fire()
