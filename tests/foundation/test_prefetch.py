"""Work that begins early gives its results in order, and ends with its generator."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial
from typing import Any

import pytest

from nimbill.foundation.errors import Unavailable
from nimbill.foundation.prefetch import prefetch, prefetch_next


def test_results_come_in_order_though_some_are_made_at_once() -> None:
    running: set[int] = set()
    at_once: list[int] = []

    async def make(number: int) -> int:
        running.add(number)
        at_once.append(len(running))
        await asyncio.sleep(0.02 / (number + 1))  # later ones finish first
        running.discard(number)
        return number

    async def make_all() -> list[int]:
        makers = (partial(make, number) for number in range(6))
        return [number async for number in prefetch(makers, ahead=4)]

    assert asyncio.run(make_all()) == list(range(6))
    assert max(at_once) == 4


def test_a_failure_ends_what_was_begun() -> None:
    begun: list[int] = []
    cancelled: list[int] = []

    async def make(number: int) -> int:
        begun.append(number)
        if number == 1:
            raise Unavailable("pdf_limits", "too large", retry_after=1)
        try:
            await asyncio.sleep(0 if number == 0 else 60)
        except asyncio.CancelledError:
            cancelled.append(number)
            raise
        return number

    async def make_all() -> None:
        files = prefetch((partial(make, number) for number in range(9)), ahead=3)
        async with aclosing(files):
            assert await anext(files) == 0
            with pytest.raises(Unavailable):
                await anext(files)

    asyncio.run(make_all())

    assert (begun, cancelled) == ([0, 1, 2], [2])


async def _produce(log: list[str], count: int, *, fails: bool = False) -> AsyncGenerator[int, None]:
    try:
        for number in range(1, count + 1):
            await asyncio.sleep(0)
            log.append(f"started {number}")
            yield number
        if fails:
            raise ZeroDivisionError
    finally:
        log.append("closed")


def test_prefetch_next_produces_the_next_item_while_one_is_in_use() -> None:
    log: list[str] = []

    async def run() -> None:
        async for number in prefetch_next(_produce(log, 3)):
            await asyncio.sleep(0.01)
            log.append(f"used {number}")

    asyncio.run(run())

    assert log == [
        *("started 1", "started 2", "used 1", "started 3", "used 2"),
        *("closed", "used 3"),
    ]


def test_prefetch_next_raises_errors_in_order() -> None:
    used = []

    async def run() -> None:
        async for number in prefetch_next(_produce([], 2, fails=True)):
            used.append(number)  # collects the items before the failure

    with pytest.raises(ZeroDivisionError):
        asyncio.run(run())
    assert used == [1, 2]


def test_prefetch_next_leaves_no_task_running_when_stopped() -> None:
    log: list[str] = []

    async def run() -> set[asyncio.Task[Any]]:
        async with aclosing(prefetch_next(_produce(log, 3))) as steps:
            async for _ in steps:
                break
        return asyncio.all_tasks() - {asyncio.current_task()}

    assert asyncio.run(run()) == set()
    assert log[-1] == "closed"
