"""A counter of events that can be armed to fire once at a given one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

Point = TypeVar("Point")


class EventTrigger(Generic[Point]):
    def __init__(self) -> None:
        self.events: list[str] = []  # counted since arming
        self.point: Point | None = None
        self._fire: Callable[[], None] = lambda: None

    def arm(self, point: Point | None, fire: Callable[[], None]) -> None:
        """Start counting from zero."""
        self.events = []
        self._fire = fire
        self.point = point

    def disarm(self) -> list[str]:
        """Return what was counted since arming."""
        self.point = None
        return self.events

    def fire(self) -> None:
        self.point = None
        self._fire()
