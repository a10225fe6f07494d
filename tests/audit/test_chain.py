"""The hash chain: whatever is done to it, the first row that is not as written is named."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nimbill.audit.chain import Break, Link, first_break, first_hash, next_hash

ORGANISATION = "org_one"
Head = tuple[int, bytes]


def chained(entries: list[str], organisation_id: str = ORGANISATION) -> list[Link]:
    links, previous = [], first_hash(organisation_id)
    for seq, entry in enumerate(entries, start=1):
        previous = next_hash(previous, seq=seq, entry=entry)
        links.append(Link(seq, entry, previous))
    return links


def head_of(links: list[Link]) -> Head | None:
    return (links[-1].seq, links[-1].hash) if links else None


def found(
    links: list[Link], head: Head | None, checkpoints: list[Head] | None = None
) -> Break | None:
    return first_break(ORGANISATION, links, head=head, checkpoints=checkpoints or [])


ENTRIES = [f'{{"number": {number}, "名": "🌸"}}' for number in range(1, 9)]
WHOLE = chained(ENTRIES)
HEAD = head_of(WHOLE)


def test_the_sum_is_sha256_of_what_stood_before_the_number_and_the_entry() -> None:
    before = sha256(b"org_one").digest()

    assert first_hash("org_one") == before
    assert (
        next_hash(before, seq=258, entry="名")
        == sha256(before + b"\0\0\0\0\0\0\x01\x02" + "名".encode()).digest()
    )


@given(st.lists(st.sampled_from(ENTRIES), max_size=12), st.data())
def test_a_chain_as_written_is_intact_with_any_checkpoints(
    entries: list[str], data: st.DataObject
) -> None:
    links = chained(entries)
    points = data.draw(st.lists(st.sampled_from(links), max_size=4)) if links else []

    assert found(links, head_of(links), [(link.seq, link.hash) for link in points]) is None


def test_nothing_at_all_is_intact() -> None:
    assert found([], None) is None


Tamper = Callable[[list[Link], int], list[Link]]
TAMPERINGS: dict[str, Tamper] = {
    "entry edited": lambda links, i: [
        *links[:i],
        links[i]._replace(entry=links[i].entry + " "),
        *links[i + 1 :],
    ],
    "hash edited": lambda links, i: [
        *links[:i],
        links[i]._replace(hash=bytes(32)),
        *links[i + 1 :],
    ],
    "deleted": lambda links, i: [*links[:i], *links[i + 1 :]],
    "deleted and renumbered": lambda links, i: [
        *links[:i],
        *(link._replace(seq=link.seq - 1) for link in links[i + 1 :]),
    ],
    "inserted": lambda links, i: [
        *links[:i],
        Link(links[i].seq, "{}", bytes(32)),
        *(link._replace(seq=link.seq + 1) for link in links[i:]),
    ],
    "doubled": lambda links, i: [*links[: i + 1], links[i], *links[i + 1 :]],
}


@pytest.mark.parametrize("kind", TAMPERINGS)
@pytest.mark.parametrize("index", range(len(WHOLE)))
def test_each_tampering_is_found_at_its_row(kind: str, index: int) -> None:
    links = TAMPERINGS[kind](list(WHOLE), index)

    broken = found(links, HEAD)

    assert broken is not None
    assert broken.seq == (index + 2 if kind == "doubled" else index + 1)


@pytest.mark.parametrize("index", range(len(WHOLE) - 1))
def test_two_rows_that_changed_places_are_found_at_the_first(index: int) -> None:
    one, other = WHOLE[index : index + 2]
    swapped_places = [*WHOLE[:index], other, one, *WHOLE[index + 2 :]]
    swapped_entries = [
        *WHOLE[:index],
        one._replace(entry=other.entry, hash=other.hash),
        other._replace(entry=one.entry, hash=one.hash),
        *WHOLE[index + 2 :],
    ]

    for links in (swapped_places, swapped_entries):
        broken = found(links, HEAD)
        assert broken is not None
        assert broken.seq == index + 1


def rewritten(index: int) -> list[Link]:
    """An entry edited and every later hash made to fit."""
    return chained([*ENTRIES[:index], '{"forged": true}', *ENTRIES[index + 1 :]])


@pytest.mark.parametrize("index", range(len(WHOLE)))
def test_a_row_whose_own_hash_was_made_to_fit_is_found_at_the_next(index: int) -> None:
    links = [*WHOLE[:index], rewritten(index)[index], *WHOLE[index + 1 :]]

    broken = found(links, HEAD)

    last = index == len(WHOLE) - 1
    expected = Break(index + 1, "the head does not match") if last else Break(index + 2, "changed")
    assert broken == expected


@pytest.mark.parametrize("left", range(len(WHOLE)))
def test_a_cut_tail_is_found_by_the_head(left: int) -> None:
    assert found(WHOLE[:left], HEAD) == Break(left + 1, "missing")


@pytest.mark.parametrize("left", range(len(WHOLE)))
def test_a_cut_tail_with_its_head_set_back_is_found_by_a_checkpoint_beyond(left: int) -> None:
    links = WHOLE[:left]
    beyond, before = (len(WHOLE), WHOLE[-1].hash), (left, WHOLE[left - 1].hash)

    assert found(links, head_of(links), [beyond]) == Break(left + 1, "missing")
    if left:
        # the stated limit: what no checkpoint has seen can be cut away unseen
        assert found(links, head_of(links), [before]) is None


@pytest.mark.parametrize("index", range(len(WHOLE)))
def test_a_chain_rewritten_to_its_end_is_found_by_a_checkpoint(index: int) -> None:
    links = rewritten(index)
    checkpoint = (len(WHOLE), WHOLE[-1].hash)

    assert found(links, head_of(links)) is None
    assert found(links, head_of(links), [checkpoint]) == Break(
        len(WHOLE), "rewritten since its checkpoint"
    )


def test_the_earliest_checkpoint_that_disagrees_names_the_row() -> None:
    links = rewritten(2)
    checkpoints = [(link.seq, link.hash) for link in WHOLE]

    assert found(links, head_of(links), checkpoints) == Break(3, "rewritten since its checkpoint")


@pytest.mark.parametrize(
    ("head", "broken"),
    [
        (None, Break(len(WHOLE), "the head is missing")),
        ((len(WHOLE), bytes(32)), Break(len(WHOLE), "the head does not match")),
        ((3, WHOLE[2].hash), Break(4, "the head does not match")),
        ((0, first_hash(ORGANISATION)), Break(1, "the head does not match")),
        ((len(WHOLE) + 1, bytes(32)), Break(len(WHOLE) + 1, "missing")),
    ],
)
def test_a_head_that_was_edited_is_found(head: Head | None, broken: Break) -> None:
    assert found(list(WHOLE), head) == broken


def test_the_chain_of_another_organisation_does_not_fit() -> None:
    theirs = chained(ENTRIES, "org_two")

    assert found(theirs, head_of(theirs)) == Break(1, "changed")


def test_a_chain_that_does_not_begin_at_one_lacks_its_first_row() -> None:
    assert found(WHOLE[1:], HEAD) == Break(1, "missing")
