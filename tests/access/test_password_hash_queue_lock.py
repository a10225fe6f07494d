"""The queue of password hashes is changed by several threads, and only under its lock."""

from __future__ import annotations

from typing import Any

from nimbill.access.password_hash_queue import PasswordHashQueue, QueueLane, create_attempts

LOCKED_STEPS = ("_build_entry", "_find_entry_to_drop", "_stop_waiting", "_pop_next")
LOCKED_COUNTS = ("add", "cancel", "count")


def test_every_change_of_the_queue_is_made_under_its_lock() -> None:
    """The hashing thread and the event loop change the queue at the same time."""
    queue = PasswordHashQueue(create_attempts())
    owned: dict[str, set[bool]] = {}

    def check(owner: object, name: str) -> None:
        step = getattr(owner, name)

        def record(*arguments: Any) -> Any:
            owned.setdefault(name, set()).add(queue._lock._is_owned())  # type: ignore[attr-defined]
            return step(*arguments)

        setattr(owner, name, record)

    for name in LOCKED_STEPS:
        check(queue, name)
    for name in LOCKED_COUNTS:
        check(queue.attempts, name)

    queue.refuse_if_full(QueueLane.known_source, "one")
    with queue.enter(QueueLane.known_source, "one") as entry:
        queue.submit(entry, int).result(60)
        queue.cancel_attempt(entry)
    assert not queue.has_failed("one")

    assert owned == {name: {True} for name in (*LOCKED_STEPS, *LOCKED_COUNTS)}
