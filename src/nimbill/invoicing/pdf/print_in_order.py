"""Prints several documents at a time, for archives that contain them one after the other."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from typing import TypeVar

T = TypeVar("T")

# Two documents are compiled while the next is read and the one before is stored.
AT_ONCE = 4


async def print_in_order(
    printings: Sequence[Callable[[], Awaitable[T]]],
) -> AsyncGenerator[T, None]:
    """Yield the results in this order; some begin while an earlier one is not finished.

    When the generator is closed, what was begun is cancelled.
    """
    tasks: deque[asyncio.Task[T]] = deque()
    try:
        for printing in printings:
            tasks.append(asyncio.ensure_future(printing()))
            if len(tasks) == AT_ONCE:
                yield await tasks.popleft()
        while tasks:
            yield await tasks.popleft()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
