"""The same content is the same delivery, however it is split over folders, names and order."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.costs.small_files import NEW, Inbox, azure, legacy

contents = st.lists(
    st.integers(0, 10**6).map(lambda number: b"a,b\n%d,%d\n" % (number, number)),
    min_size=1,
    max_size=6,
    unique=True,
)
folder_names = st.sampled_from(["", "a/", "b/", "a/b/", "é x/"])


@given(data=st.data(), parts=contents)
def test_names_folders_and_order_do_not_matter(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, parts: list[bytes]
) -> None:
    identities = set()
    for _ in range(2):
        inbox = Inbox(tmp_path_factory.mktemp("identity"))
        sources = []
        for at, content in enumerate(data.draw(st.permutations(parts))):
            name = f"{data.draw(folder_names)}{data.draw(st.integers(0, 99))}-{at}.csv"
            inbox.put(name, content)
            sources.append(name)
        identities.add(inbox.take().identity)
        identities.add(inbox.take(*data.draw(st.permutations(sources))).identity)

    assert len(identities) == 1


@given(parts=contents, other=contents)
def test_other_content_is_another_delivery(
    tmp_path_factory: pytest.TempPathFactory, parts: list[bytes], other: list[bytes]
) -> None:
    identities = []
    for taken in (parts, other):
        inbox = Inbox(tmp_path_factory.mktemp("identity"))
        for at, content in enumerate(taken):
            inbox.put(f"{at}.csv", content)
        identities.append(inbox.take().identity)

    assert (identities[0] == identities[1]) == (sorted(parts) == sorted(other))


def test_a_manifest_does_not_make_it_another_delivery(tmp_path: Path) -> None:
    inbox = Inbox(tmp_path)
    inbox.put("a/1.csv")
    inbox.put("b/2.csv", gzip.compress(b"a\n1\n", mtime=0))
    before = inbox.take().identity

    inbox.put_json("cur-Manifest.json", legacy(NEW, reportKeys=["x/b/2.csv", "x/a/1.csv"]))
    assert inbox.take().identity == before

    (inbox.folder / "cur-Manifest.json").unlink()
    said = azure(NEW)
    said |= {"blobCount": None, "blobs": [{"blobName": "a/1.csv"}, {"blobName": "b/2.csv"}]}
    inbox.put_json("manifest.json", said)
    assert inbox.take().identity == before


def test_a_part_less_or_twice_is_another_delivery(tmp_path: Path) -> None:
    inbox = Inbox(tmp_path)
    inbox.put("1.csv")
    inbox.put("2.csv", b"a,b\n")
    both = inbox.take().identity
    inbox.put("3.csv", b"a,b\n")

    assert len({both, inbox.take().identity, inbox.take("1.csv").identity}) == 3
