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


def remove(record: str, began: float, ended: float, said: str = DONE) -> ObservedOperation:
    return ObservedOperation("remove", began, ended, said, "R", record)


def read(
    began: float, ended: float, remaining: int | None = None, **moved: int
) -> ObservedOperation:
    left = 10 - sum(moved.values()) if remaining is None else remaining
    return ObservedOperation("read", began, ended, shown={"R": ShownReservation(left, moved)})


SOUND = {
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
    "given back by one of two": [
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
UNSOUND = {
    "instances made up": ([read(0, 1, 11)], "not the 10 instances"),
    "less than none": ([move("a", 11, 0, 1), read(2, 3, -1, a=11)], "not the 10 instances"),
    "cut": ([move("a", 6, 0, 1), read(2, 3, 7, a=3)], "moved 6 and is shown as 3"),
    "from nowhere": ([read(0, 1, a=3)], "nobody was told"),
    "moved twice": ([move("a", 1, 0, 1), move("a", 1, 2, 3)], "two calls"),
    "given back twice": (
        [move("a", 1, 0, 1), remove("a", 2, 3), remove("a", 2, 3)],
        "two calls were told that their remove",
    ),
    "gone though it stands": ([move("a", 1, 0, 1), remove("a", 2, 3, GONE)], "never given back"),
    "lost": ([move("a", 1, 0, 1), read(2, 3)], "not so by then"),
    "come back": (
        [move("a", 1, 0, 1), remove("a", 2, 3), read(4, 5, a=1)],
        "after it was gone",
    ),
    "shown too soon": ([read(0, 1, a=1), move("a", 1, 2, 3)], "before it was moved"),
    "shown, then not, while nobody took it": (
        [move("a", 1, 0, 9), read(1, 2, a=1), read(3, 4)],
        "not so by then",
    ),
    "two reads in two orders": (
        [move("a", 1, 0, 9), move("b", 1, 0, 9), read(1, 8, a=1), read(1, 8, b=1)],
        "must stand before the next",
    ),
    "gone in one read and there in the next": (
        [move("a", 1, 0, 1), remove("a", 2, 9), read(3, 4), read(5, 6, a=1)],
        "neither gone nor still to come",
    ),
    "refused for no reason": ([move("a", 5, 0, 1), refused(5, 2, 3)], "for no reason"),
}


@pytest.mark.parametrize("history", SOUND.values(), ids=SOUND)
def test_what_can_have_happened_is_sound(history: list[ObservedOperation]) -> None:
    assert find_anomalies(history, TOTAL) == []


@pytest.mark.parametrize(("history", "said"), UNSOUND.values(), ids=UNSOUND)
def test_what_cannot_have_happened_is_found(history: list[ObservedOperation], said: str) -> None:
    assert said in "\n".join(find_anomalies(history, TOTAL))


def random_history(random: Random) -> list[ObservedOperation]:
    """Operations that happened sequentially, observed through overlapping calls."""
    history: list[ObservedOperation] = []
    standing: dict[str, int] = {}
    for moment in range(60):
        began, ended = moment - random.random() * 5, moment + random.random() * 5
        number, chance = random.randint(1, 5), random.random()
        left = 10 - sum(standing.values())
        if chance < 0.4:
            if number <= left:
                standing[f"r{moment}"] = number
                history.append(move(f"r{moment}", number, began, ended))
            else:
                history.append(refused(number, began, ended))
        elif chance < 0.7 and standing:
            record = random.choice(list(standing))
            del standing[record]
            history.append(remove(record, began, ended))
        else:
            history.append(read(began, ended, **standing))
    return history


@pytest.mark.parametrize("seed", range(50))
def test_whatever_happened_one_after_the_other_is_sound(seed: int) -> None:
    history = random_history(Random(seed))
    Random(seed).shuffle(history)

    assert find_anomalies(history, TOTAL) == []


def test_a_read_that_shows_something_else_is_found_nearly_always() -> None:
    found = 0
    for seed in range(50):
        history = random_history(Random(seed))
        moves = [one for one in history if one.kind == "move" and one.said == DONE]
        lost = moves[len(moves) // 2]
        later = max(one.ended for one in history) + 1
        taken = any(one.kind == "remove" and one.record == lost.record for one in history)
        stale = {lost.record: lost.number} if taken else {}
        found += bool(find_anomalies([*history, read(later, later + 1, **stale)], TOTAL))

    assert found == 50
