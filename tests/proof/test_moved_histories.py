"""The history checker accepts possible histories and rejects impossible ones."""

from __future__ import annotations

from random import Random

import pytest

from tests.proof.moved_histories import (
    DONE,
    GONE,
    TOO_FEW,
    ObservedOperation,
    ShownReservation,
    find_anomalies,
)

TOTAL = {"R": 10}


def move(record: str, number: int, began: float, ended: float) -> ObservedOperation:
    return ObservedOperation("move", began, ended, DONE, "R", record, number)


def refused(number: int, began: float, ended: float) -> ObservedOperation:
    return ObservedOperation("move", began, ended, TOO_FEW, "R", "", number)


def remove(record: str, began: float, ended: float, result: str = DONE) -> ObservedOperation:
    return ObservedOperation("remove", began, ended, result, "R", record)


def read(
    began: float, ended: float, remaining: int | None = None, **moved: int
) -> ObservedOperation:
    left = 10 - sum(moved.values()) if remaining is None else remaining
    return ObservedOperation("read", began, ended, shown={"R": ShownReservation(left, moved)})


POSSIBLE = {
    "nothing": [],
    "one after the other": [
        read(0, 1),
        move("a", 4, 2, 3),
        read(4, 5, a=4),
        remove("a", 6, 7),
        read(8, 9),
    ],
    "a read beside a move may miss it": [move("a", 4, 0, 10), read(1, 2), read(3, 4, a=4)],
    "a read beside a removal may still show it": [
        move("a", 4, 0, 1),
        remove("a", 2, 9),
        read(3, 4, a=4),
        read(5, 6),
    ],
    "refused while it was full": [move("a", 10, 0, 5), refused(1, 4, 6)],
    "returned by one of two": [
        move("a", 4, 0, 1),
        remove("a", 2, 9),
        remove("a", 3, 4, GONE),
    ],
    "not shown, either gone or still to come": [
        move("a", 4, 0, 9),
        remove("a", 0.5, 9.5),
        read(1, 2),
    ],
}
IMPOSSIBLE = {
    "instances made up": ([read(0, 1, 11)], "not the 10 instances"),
    "less than none": ([move("a", 11, 0, 1), read(2, 3, -1, a=11)], "not the 10 instances"),
    "cut": ([move("a", 6, 0, 1), read(2, 3, 7, a=3)], "moved 6 and is shown as 3"),
    "from nowhere": ([read(0, 1, a=3)], "no call reported"),
    "moved twice": ([move("a", 1, 0, 1), move("a", 1, 2, 3)], "two calls"),
    "returned twice": (
        [move("a", 1, 0, 1), remove("a", 2, 3), remove("a", 2, 3)],
        "two calls completed the remove",
    ),
    "reported as gone although it exists": (
        [move("a", 1, 0, 1), remove("a", 2, 3, GONE)],
        "never returned",
    ),
    "lost": ([move("a", 1, 0, 1), read(2, 3)], "did not exist then"),
    "come back": (
        [move("a", 1, 0, 1), remove("a", 2, 3), read(4, 5, a=1)],
        "after it was gone",
    ),
    "shown too soon": ([read(0, 1, a=1), move("a", 1, 2, 3)], "before it was moved"),
    "shown, then not, without a removal": (
        [move("a", 1, 0, 9), read(1, 2, a=1), read(3, 4)],
        "did not exist then",
    ),
    "two reads in two orders": (
        [move("a", 1, 0, 9), move("b", 1, 0, 9), read(1, 8, a=1), read(1, 8, b=1)],
        "must come before the next",
    ),
    "gone in one read and there in the next": (
        [move("a", 1, 0, 1), remove("a", 2, 9), read(3, 4), read(5, 6, a=1)],
        "neither removed before",
    ),
    "refused for no reason": ([move("a", 5, 0, 1), refused(5, 2, 3)], "for no reason"),
}


@pytest.mark.parametrize("history", POSSIBLE.values(), ids=POSSIBLE)
def test_a_possible_history_has_no_anomaly(history: list[ObservedOperation]) -> None:
    assert find_anomalies(history, TOTAL) == []


@pytest.mark.parametrize(("history", "expected"), IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_an_impossible_history_has_an_anomaly(
    history: list[ObservedOperation], expected: str
) -> None:
    assert expected in "\n".join(find_anomalies(history, TOTAL))


def random_history(random: Random) -> list[ObservedOperation]:
    """Operations that happened sequentially, observed through overlapping calls."""
    history: list[ObservedOperation] = []
    moved: dict[str, int] = {}
    for moment in range(60):
        began, ended = moment - random.random() * 5, moment + random.random() * 5
        number, chance = random.randint(1, 5), random.random()
        left = 10 - sum(moved.values())
        if chance < 0.4:
            if number <= left:
                moved[f"r{moment}"] = number
                history.append(move(f"r{moment}", number, began, ended))
            else:
                history.append(refused(number, began, ended))
        elif chance < 0.7 and moved:
            record = random.choice(list(moved))
            del moved[record]
            history.append(remove(record, began, ended))
        else:
            history.append(read(began, ended, **moved))
    return history


@pytest.mark.parametrize("seed", range(50))
def test_a_sequential_history_has_no_anomaly(seed: int) -> None:
    history = random_history(Random(seed))
    Random(seed).shuffle(history)

    assert find_anomalies(history, TOTAL) == []


def test_a_read_that_shows_another_state_is_an_anomaly() -> None:
    found = 0
    for seed in range(50):
        history = random_history(Random(seed))
        moves = [
            operation
            for operation in history
            if operation.kind == "move" and operation.result == DONE
        ]
        lost = moves[len(moves) // 2]
        later = max(operation.ended for operation in history) + 1
        removed = any(
            operation.kind == "remove" and operation.record == lost.record for operation in history
        )
        stale = {lost.record: lost.number} if removed else {}
        found += bool(find_anomalies([*history, read(later, later + 1, **stale)], TOTAL))

    assert found == 50
