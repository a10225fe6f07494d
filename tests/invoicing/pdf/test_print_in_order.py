"""Documents of an archive are printed several at a time, and come in their order."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from functools import partial

import pytest

from nimbill.foundation.errors import Unavailable
from nimbill.invoicing.pdf.print_in_order import AT_ONCE, print_in_order


def test_files_come_in_order_though_some_are_made_at_once() -> None:
    running: set[int] = set()
    at_once: list[int] = []

    async def make(number: int) -> int:
        running.add(number)
        at_once.append(len(running))
        await asyncio.sleep(0.02 / (number + 1))  # later ones finish first
        running.discard(number)
        return number

    async def make_all() -> list[int]:
        makers = [partial(make, number) for number in range(6)]
        return [number async for number in print_in_order(makers)]

    assert asyncio.run(make_all()) == list(range(6))
    assert max(at_once) == AT_ONCE


def test_a_failure_ends_what_was_begun() -> None:
    cancelled: list[int] = []

    async def make(number: int) -> int:
        if number == 1:
            raise Unavailable("pdf_limits", "too large", retry_after=1)
        try:
            await asyncio.sleep(0 if number == 0 else 60)
        except asyncio.CancelledError:
            cancelled.append(number)
            raise
        return number

    async def make_all() -> None:
        files = print_in_order([partial(make, number) for number in range(9)])
        async with aclosing(files):
            assert await anext(files) == 0
            with pytest.raises(Unavailable):
                await anext(files)

    asyncio.run(make_all())

    assert cancelled == [2, 3], "all that were begun; no other one is begun"
