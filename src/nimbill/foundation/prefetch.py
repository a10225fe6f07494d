"""Begins asynchronous work before its result is needed."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from contextlib import aclosing
from functools import partial
from itertools import islice, repeat
from typing import TypeVar

T = TypeVar("T")


async def prefetch(
    calls: Iterable[Callable[[], Awaitable[T]]], *, ahead: int
) -> AsyncGenerator[T, None]:
    """Yield the results in order; while one is in use, the next ones are produced.

    When the generator is closed, what was begun is cancelled.
    """
    remaining = iter(calls)
    tasks = deque(asyncio.ensure_future(call()) for call in islice(remaining, ahead))
    try:
        while tasks:
            result = await tasks[0]
            tasks.popleft()
            tasks.extend(asyncio.ensure_future(call()) for call in islice(remaining, 1))
            yield result
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def prefetch_next(items: AsyncGenerator[T, None]) -> AsyncGenerator[T, None]:
    """Yield the same items, but produce the next one while the current one is in use."""
    calls = repeat(partial(anext, items, None))
    async with aclosing(items), aclosing(prefetch(calls, ahead=1)) as produced:
        async for item in produced:
            if item is None:
                return
            yield item
