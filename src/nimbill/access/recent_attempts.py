"""Count the recent failed attempts of a source in memory."""

import time
from collections import OrderedDict

WINDOW_SECONDS = 15 * 60
SOURCES_MAX = 10_000


class RecentAttempts:
    """Every attempt counts until it is cancelled by success; a quiet source starts again at 0."""

    def __init__(self) -> None:
        # count and time of the last attempt by source; the latest is last
        self._attempts: OrderedDict[str, tuple[int, float]] = OrderedDict()

    def count(self, source: str) -> int:
        count, at = self._attempts.get(source, (0, 0.0))
        return count if time.monotonic() - at < WINDOW_SECONDS else 0

    def add(self, source: str) -> None:
        self._attempts[source] = (self.count(source) + 1, time.monotonic())
        self._attempts.move_to_end(source)
        if len(self._attempts) > SOURCES_MAX:
            self._attempts.popitem(last=False)

    def cancel(self, source: str) -> None:
        """Remove one attempt, because it succeeded."""
        count = self.count(source)
        if count > 1:
            self._attempts[source] = (count - 1, self._attempts[source][1])
        else:
            self._attempts.pop(source, None)
