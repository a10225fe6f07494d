"""The hash chain: every change to it is reported with the first row that differs."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nimbill.audit.chain import ChainBreak, ChainedEntry, find_first_break, genesis_hash, next_hash

ORGANISATION = "org_one"
Head = tuple[int, bytes]


def build_chain(entries: list[str], organisation_id: str = ORGANISATION) -> list[ChainedEntry]:
    chain, previous = [], genesis_hash(organisation_id)
    for seq, entry in enumerate(entries, start=1):
        previous = next_hash(previous, seq=seq, entry=entry)
        chain.append(ChainedEntry(seq, entry, previous))
    return chain


def head_of(entries: list[ChainedEntry]) -> Head | None:
    return (entries[-1].seq, entries[-1].hash) if entries else None


def find_break(
    entries: list[ChainedEntry], head: Head | None, checkpoints: list[Head] | None = None
) -> ChainBreak | None:
    return find_first_break(ORGANISATION, entries, head=head, checkpoints=checkpoints or [])


ENTRIES = [f'{{"number": {number}, "名": "🌸"}}' for number in range(1, 9)]
CHAIN = build_chain(ENTRIES)
HEAD = head_of(CHAIN)


def test_a_hash_is_sha256_of_previous_hash_number_and_entry() -> None:
    before = sha256(b"org_one").digest()

    assert genesis_hash("org_one") == before
    assert (
        next_hash(before, seq=258, entry="名")
        == sha256(before + b"\0\0\0\0\0\0\x01\x02" + "名".encode()).digest()
    )


@given(st.lists(st.sampled_from(ENTRIES), max_size=12), st.data())
def test_an_unchanged_chain_is_intact_with_any_checkpoints(
    entries: list[str], data: st.DataObject
) -> None:
    chain = build_chain(entries)
    chosen = data.draw(st.lists(st.sampled_from(chain), max_size=4)) if chain else []
    checkpoints = [(entry.seq, entry.hash) for entry in chosen]

    assert find_break(chain, head_of(chain), checkpoints) is None


def test_an_empty_chain_is_intact() -> None:
    assert find_break([], None) is None


Tamper = Callable[[list[ChainedEntry], int], list[ChainedEntry]]
TAMPERINGS: dict[str, Tamper] = {
    "entry edited": lambda entries, i: [
        *entries[:i],
        entries[i]._replace(entry=entries[i].entry + " "),
        *entries[i + 1 :],
    ],
    "hash edited": lambda entries, i: [
        *entries[:i],
        entries[i]._replace(hash=bytes(32)),
        *entries[i + 1 :],
    ],
    "deleted": lambda entries, i: [*entries[:i], *entries[i + 1 :]],
    "deleted and renumbered": lambda entries, i: [
        *entries[:i],
        *(entry._replace(seq=entry.seq - 1) for entry in entries[i + 1 :]),
    ],
    "inserted": lambda entries, i: [
        *entries[:i],
        ChainedEntry(entries[i].seq, "{}", bytes(32)),
        *(entry._replace(seq=entry.seq + 1) for entry in entries[i:]),
    ],
    "doubled": lambda entries, i: [*entries[: i + 1], entries[i], *entries[i + 1 :]],
}


@pytest.mark.parametrize("tampering", TAMPERINGS)
@pytest.mark.parametrize("index", range(len(CHAIN)))
def test_each_tampering_is_reported_at_its_row(tampering: str, index: int) -> None:
    entries = TAMPERINGS[tampering](list(CHAIN), index)

    chain_break = find_break(entries, HEAD)

    assert chain_break is not None
    assert chain_break.seq == (index + 2 if tampering == "doubled" else index + 1)


@pytest.mark.parametrize("index", range(len(CHAIN) - 1))
def test_two_swapped_rows_are_reported_at_the_first(index: int) -> None:
    first, second = CHAIN[index : index + 2]
    swapped_rows = [*CHAIN[:index], second, first, *CHAIN[index + 2 :]]
    swapped_entries = [
        *CHAIN[:index],
        first._replace(entry=second.entry, hash=second.hash),
        second._replace(entry=first.entry, hash=first.hash),
        *CHAIN[index + 2 :],
    ]

    for entries in (swapped_rows, swapped_entries):
        chain_break = find_break(entries, HEAD)
        assert chain_break is not None
        assert chain_break.seq == index + 1


def build_rewritten_chain(index: int) -> list[ChainedEntry]:
    """Build a chain with one forged entry and correct hashes."""
    return build_chain([*ENTRIES[:index], '{"forged": true}', *ENTRIES[index + 1 :]])


@pytest.mark.parametrize("index", range(len(CHAIN)))
def test_a_row_with_a_recomputed_hash_is_reported_at_the_next_row(index: int) -> None:
    entries = [*CHAIN[:index], build_rewritten_chain(index)[index], *CHAIN[index + 1 :]]

    chain_break = find_break(entries, HEAD)

    last = index == len(CHAIN) - 1
    expected = (
        ChainBreak(index + 1, "the head does not match")
        if last
        else ChainBreak(index + 2, "changed")
    )
    assert chain_break == expected


@pytest.mark.parametrize("left", range(len(CHAIN)))
def test_the_head_reveals_a_truncated_chain(left: int) -> None:
    assert find_break(CHAIN[:left], HEAD) == ChainBreak(left + 1, "missing")


@pytest.mark.parametrize("left", range(len(CHAIN)))
def test_a_later_checkpoint_reveals_a_truncated_chain_with_a_changed_head(left: int) -> None:
    entries = CHAIN[:left]
    beyond, before = (len(CHAIN), CHAIN[-1].hash), (left, CHAIN[left - 1].hash)

    assert find_break(entries, head_of(entries), [beyond]) == ChainBreak(left + 1, "missing")
    if left:
        # the documented limit: rows after the last checkpoint can be removed undetected
        assert find_break(entries, head_of(entries), [before]) is None


@pytest.mark.parametrize("index", range(len(CHAIN)))
def test_a_checkpoint_reveals_a_fully_rewritten_chain(index: int) -> None:
    entries = build_rewritten_chain(index)
    checkpoint = (len(CHAIN), CHAIN[-1].hash)

    assert find_break(entries, head_of(entries)) is None
    assert find_break(entries, head_of(entries), [checkpoint]) == ChainBreak(
        len(CHAIN), "rewritten since its checkpoint"
    )


def test_the_earliest_differing_checkpoint_is_reported() -> None:
    entries = build_rewritten_chain(2)
    checkpoints = [(entry.seq, entry.hash) for entry in CHAIN]

    assert find_break(entries, head_of(entries), checkpoints) == ChainBreak(
        3, "rewritten since its checkpoint"
    )


@pytest.mark.parametrize(
    ("head", "chain_break"),
    [
        (None, ChainBreak(len(CHAIN), "the head is missing")),
        ((len(CHAIN), bytes(32)), ChainBreak(len(CHAIN), "the head does not match")),
        ((3, CHAIN[2].hash), ChainBreak(4, "the head does not match")),
        ((0, genesis_hash(ORGANISATION)), ChainBreak(1, "the head does not match")),
        ((len(CHAIN) + 1, bytes(32)), ChainBreak(len(CHAIN) + 1, "missing")),
    ],
)
def test_a_changed_head_is_reported(head: Head | None, chain_break: ChainBreak) -> None:
    assert find_break(list(CHAIN), head) == chain_break


def test_the_chain_of_another_organisation_is_reported() -> None:
    other_chain = build_chain(ENTRIES, "org_two")

    assert find_break(other_chain, head_of(other_chain)) == ChainBreak(1, "changed")


def test_a_missing_first_row_is_reported() -> None:
    assert find_break(CHAIN[1:], HEAD) == ChainBreak(1, "missing")
