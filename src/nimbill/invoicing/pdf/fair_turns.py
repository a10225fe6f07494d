"""Gives organisations turns at a limited resource, so that none of them can occupy it."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from nimbill.foundation.errors import TooManyRequests

RETRY_SECONDS = 5


class FairTurns:
    """At most `turns_max` turns at a time, one for each organisation.

    Waiting organisations take turns; how much each of them has waiting does not matter.
    """

    def __init__(self, turns_max: int, *, waiting_max: int) -> None:
        self._turns_max = turns_max
        self._waiting_max = waiting_max
        self._active: set[str] = set()
        # the organisation at the front is next
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}

    @asynccontextmanager
    async def turn(self, organisation_id: str) -> AsyncIterator[None]:
        """Wait for a turn. Refuse if the organisation has too many requests waiting already."""
        await self._acquire(organisation_id)
        try:
            yield
        finally:
            self._release(organisation_id)

    async def _acquire(self, organisation_id: str) -> None:
        if organisation_id not in self._active and len(self._active) < self._turns_max:
            self._active.add(organisation_id)
            return
        queue = self._waiting.setdefault(organisation_id, deque())
        if len(queue) >= self._waiting_max:
            raise TooManyRequests(
                "printing_queue_full",
                f"{self._waiting_max} PDF files of this organisation are waiting already. "
                "Try again later.",
                retry_after=RETRY_SECONDS,
            )
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        queue.append(place)
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self._release(organisation_id)  # the turn came at the same moment
            else:
                self._leave(organisation_id, place)
            raise

    def _leave(self, organisation_id: str, place: asyncio.Future[None]) -> None:
        queue = self._waiting.get(organisation_id, deque())
        if place in queue:  # otherwise its turn came after it was cancelled, and was passed on
            queue.remove(place)
            if not queue:
                del self._waiting[organisation_id]

    def _release(self, organisation_id: str) -> None:
        self._active.discard(organisation_id)
        while len(self._active) < self._turns_max:
            following = next((each for each in self._waiting if each not in self._active), None)
            if following is None:
                return
            queue = self._waiting.pop(following)
            place = queue.popleft()
            if queue:
                self._waiting[following] = queue  # to the end
            if not place.cancelled():
                self._active.add(following)
                place.set_result(None)
