"""The clock that limits waiting. Tests replace it, so that they do not wait."""

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Clock:
    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


class Deadline:
    """The end of a period in which something is repeated."""

    def __init__(self, clock: Clock, seconds: int) -> None:
        self._clock = clock
        self._end = clock.now() + seconds

    def sleep(self, seconds: float) -> bool:
        """Wait, unless the period would be over then; return whether it waited."""
        if self._clock.now() + seconds > self._end:
            return False
        self._clock.sleep(seconds)
        return True
