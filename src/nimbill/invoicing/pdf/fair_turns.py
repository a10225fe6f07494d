"""Gives organisations turns at a limited resource, so that none of them can occupy it."""

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from nimbill.foundation.errors import TooManyRequests

RETRY_SECONDS = 5


@dataclass(eq=False, slots=True)
class _Place:
    """A request that waits; `came` is done when it has its turn."""

    brief: bool
    came: asyncio.Future[None] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )


class FairTurns:
    """At most `turns_max` turns at a time, one for each organisation.

    Waiting organisations take turns; how much each of them has waiting does not matter. A turn
    that nobody else wants goes to brief work of an organisation that has one already: another
    organisation then waits only for something brief.
    """

    def __init__(self, turns_max: int, *, waiting_max: int) -> None:
        self._turns_max = turns_max
        self._waiting_max = waiting_max
        self._active: Counter[str] = Counter()
        # the organisation at the front is next
        self._waiting: dict[str, deque[_Place]] = {}

    @asynccontextmanager
    async def turn(self, organisation_id: str, *, brief: bool = False) -> AsyncIterator[None]:
        """Wait for a turn. Refuse if the organisation has too many requests waiting already."""
        await self._acquire(organisation_id, brief=brief)
        try:
            yield
        finally:
            self._release(organisation_id)

    async def _acquire(self, organisation_id: str, *, brief: bool) -> None:
        if self._is_turn_free() and (brief or not self._active[organisation_id]):
            self._active[organisation_id] += 1
            return
        queue = self._waiting.setdefault(organisation_id, deque())
        if len(queue) >= self._waiting_max:
            raise TooManyRequests(
                "printing_queue_full",
                f"{self._waiting_max} PDF files of this organisation are waiting already. "
                "Try again later.",
                retry_after=RETRY_SECONDS,
            )
        place = _Place(brief)
        queue.append(place)
        try:
            await place.came
        except asyncio.CancelledError:
            if place.came.done() and not place.came.cancelled():
                self._release(organisation_id)  # the turn came at the same moment
            else:
                self._leave(organisation_id, place)
            raise

    def _leave(self, organisation_id: str, place: _Place) -> None:
        queue = self._waiting.get(organisation_id, deque())
        if place in queue:  # otherwise its turn came after it was cancelled, and was passed on
            queue.remove(place)
            if not queue:
                del self._waiting[organisation_id]

    def _release(self, organisation_id: str) -> None:
        self._active -= Counter([organisation_id])  # keeps only positive counts
        while self._is_turn_free():
            following = self._choose_next()
            if following is None:
                return
            queue = self._waiting.pop(following)
            place = queue.popleft()
            if queue:
                self._waiting[following] = queue  # to the end
            if not place.came.cancelled():
                self._active[following] += 1
                place.came.set_result(None)

    def _choose_next(self) -> str | None:
        """The first organisation without a turn; if there is none, the first with brief work."""
        without_turn = (each for each in self._waiting if not self._active[each])
        with_brief_work = (each for each, queue in self._waiting.items() if queue[0].brief)
        return next(without_turn, next(with_brief_work, None))

    def _is_turn_free(self) -> bool:
        return self._active.total() < self._turns_max
