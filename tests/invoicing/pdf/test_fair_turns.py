"""Organisations take turns; one with many waiting requests does not delay the others."""

from __future__ import annotations

import asyncio

import pytest

from nimbill.foundation.errors import TooManyRequests
from nimbill.invoicing.pdf.fair_turns import FairTurns


class HeldTurns:
    """Starts requests that keep their turn until the test ends them."""

    def __init__(self, turns_max: int, waiting_max: int = 100) -> None:
        self.turns = FairTurns(turns_max, waiting_max=waiting_max)
        self.order: list[str] = []

    def start(self, name: str, *, brief: bool = False) -> tuple[asyncio.Task[None], asyncio.Event]:
        """The first letter of the name is the organisation."""
        end = asyncio.Event()

        async def take_turn() -> None:
            async with self.turns.turn(name[0], brief=brief):
                self.order.append(name)
                await end.wait()

        return asyncio.ensure_future(take_turn()), end


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


def test_organisations_take_turns() -> None:
    async def run() -> list[str]:
        turns = HeldTurns(1)
        started = [turns.start(name) for name in ("a1", "a2", "a3", "a4", "b1", "b2", "c1")]
        await settle()
        for _, end in started:
            end.set()
        await asyncio.gather(*(task for task, _ in started))
        return turns.order

    assert asyncio.run(run()) == ["a1", "a2", "b1", "c1", "a3", "b2", "a4"]


def test_an_organisation_has_one_turn_at_a_time() -> None:
    async def run() -> None:
        turns = HeldTurns(2)
        first, end_first = turns.start("a1")
        second, end_second = turns.start("a2")
        other, end_other = turns.start("b1")
        await settle()
        assert turns.order == ["a1", "b1"]

        end_first.set()
        await settle()
        assert turns.order == ["a1", "b1", "a2"]

        end_second.set()
        end_other.set()
        await asyncio.gather(first, second, other)

    asyncio.run(run())


def test_brief_work_has_a_second_turn_while_no_other_organisation_waits() -> None:
    async def run() -> None:
        turns = HeldTurns(2)
        _, end_first = turns.start("a1", brief=True)
        turns.start("a2", brief=True)
        turns.start("a3", brief=True)
        turns.start("a4")
        await settle()
        assert turns.order == ["a1", "a2"]

        _, end_other = turns.start("b1")
        turns.start("b2", brief=True)
        end_first.set()
        await settle()
        assert turns.order == ["a1", "a2", "b1"], "the other organisation is next"

        end_other.set()
        await settle()
        assert turns.order == ["a1", "a2", "b1", "b2"], "it has no turn any more"

    asyncio.run(run())


def test_the_second_turn_passes_to_waiting_brief_work_and_not_to_other_work() -> None:
    async def run() -> None:
        turns = HeldTurns(2)
        _, end_first = turns.start("a1")
        _, end_second = turns.start("a2", brief=True)
        turns.start("a3", brief=True)
        turns.start("a4")
        await settle()
        assert turns.order == ["a1", "a2"]

        end_second.set()
        await settle()
        assert turns.order == ["a1", "a2", "a3"]

        end_first.set()
        await settle()
        assert turns.order == ["a1", "a2", "a3"], "long work waits until there is no other turn"

    asyncio.run(run())


def test_a_cancelled_request_frees_its_place() -> None:
    async def run() -> None:
        turns = HeldTurns(1)
        running, _ = turns.start("a1")
        waiting, _ = turns.start("b1")
        last, end_last = turns.start("c1")
        await settle()

        waiting.cancel()
        await settle()
        running.cancel()
        await settle()

        assert turns.order == ["a1", "c1"]
        end_last.set()
        await last
        assert not turns.turns._active
        assert not turns.turns._waiting

    asyncio.run(run())


def test_a_request_that_is_cancelled_when_its_turn_comes_passes_it_on() -> None:
    async def run() -> None:
        turns = HeldTurns(1)
        running, end = turns.start("a1")
        waiting, _ = turns.start("b1")
        last, end_last = turns.start("c1")
        await settle()

        end.set()
        await asyncio.sleep(0)
        waiting.cancel()
        await settle()

        assert turns.order[-1] == "c1"
        end_last.set()
        await asyncio.gather(running, last)
        assert not turns.turns._active

    asyncio.run(run())


@pytest.mark.parametrize("others", [["b2", "c1"], ["c1"]])
def test_a_request_that_is_cancelled_with_the_running_one_receives_no_turn(
    others: list[str],
) -> None:
    async def run() -> None:
        turns = HeldTurns(1)
        running, _ = turns.start("a1")
        cancelled, _ = turns.start("b1")
        waiting = [turns.start(name) for name in others]
        await settle()

        running.cancel()  # leaves its turn before the other one leaves the queue
        cancelled.cancel()
        for _, end in waiting:
            end.set()
        await asyncio.wait_for(asyncio.gather(*(task for task, _ in waiting)), 30)

        assert running.cancelled()
        assert cancelled.cancelled()
        assert turns.order == ["a1", *sorted(others, reverse=True)]
        assert not turns.turns._active
        assert not turns.turns._waiting

    asyncio.run(run())


def test_too_many_waiting_requests_of_an_organisation_are_refused() -> None:
    async def run() -> None:
        turns = HeldTurns(1, waiting_max=2)
        tasks = [turns.start(name)[0] for name in ("a1", "a2", "a3")]
        await settle()

        with pytest.raises(TooManyRequests) as refused:
            await turns.start("a4")[0]
        other, _ = turns.start("b1")
        await settle()

        assert (refused.value.status, refused.value.code) == (429, "printing_queue_full")
        assert refused.value.retry_after > 0
        assert not other.done(), "another organisation may still wait"
        for task in (*tasks, other):
            task.cancel()
        await settle()

    asyncio.run(run())
