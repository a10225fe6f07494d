"""How often a source has tried of late and not got in; kept in memory, up to a bound."""

import time
from collections import OrderedDict

OF_LATE_SECONDS = 15 * 60
SOURCES_MAX = 10_000


class RecentAttempts:
    """Counted when somebody tries, forgiven when he succeeds, forgotten when he stays away."""

    def __init__(self) -> None:
        self._tries: OrderedDict[str, tuple[int, float]] = OrderedDict()  # the latest last

    def of(self, source: str) -> int:
        count, at = self._tries.get(source, (0, 0.0))
        return count if time.monotonic() - at < OF_LATE_SECONDS else 0

    def add(self, source: str) -> None:
        self._tries[source] = (self.of(source) + 1, time.monotonic())
        self._tries.move_to_end(source)
        if len(self._tries) > SOURCES_MAX:
            self._tries.popitem(last=False)

    def forgive(self, source: str) -> None:
        """One of them has turned out well."""
        count = self.of(source)
        if count > 1:
            self._tries[source] = (count - 1, self._tries[source][1])
        else:
            self._tries.pop(source, None)
