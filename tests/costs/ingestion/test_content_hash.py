"""The content hash of a delivery depends only on the contents of its parts."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.costs.inbox import NEW, Inbox, azure_manifest, legacy_manifest

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
    """Takes more than 5 s: every example fetches four deliveries."""
    hashes = set()
    for _ in range(2):
        inbox = Inbox(tmp_path_factory.mktemp("hash"))
        sources = []
        for number, content in enumerate(data.draw(st.permutations(parts))):
            name = f"{data.draw(folder_names)}{data.draw(st.integers(0, 99))}-{number}.csv"
            inbox.put(name, content)
            sources.append(name)
        hashes.add(inbox.fetch().content_hash)
        hashes.add(inbox.fetch(*data.draw(st.permutations(sources))).content_hash)

    assert len(hashes) == 1


@given(parts=contents, other=contents)
def test_other_contents_have_another_hash(
    tmp_path_factory: pytest.TempPathFactory, parts: list[bytes], other: list[bytes]
) -> None:
    hashes = []
    for delivered in (parts, other):
        inbox = Inbox(tmp_path_factory.mktemp("hash"))
        for number, content in enumerate(delivered):
            inbox.put(f"{number}.csv", content)
        hashes.append(inbox.fetch().content_hash)

    assert (hashes[0] == hashes[1]) == (sorted(parts) == sorted(other))


def test_a_manifest_does_not_change_the_hash(tmp_path: Path) -> None:
    inbox = Inbox(tmp_path)
    inbox.put("a/1.csv")
    inbox.put("b/2.csv", gzip.compress(b"a\n1\n", mtime=0))
    expected = inbox.fetch().content_hash

    inbox.put_json("cur-Manifest.json", legacy_manifest(NEW, reportKeys=["x/b/2.csv", "x/a/1.csv"]))
    assert inbox.fetch().content_hash == expected

    (inbox.folder / "cur-Manifest.json").unlink()
    manifest = azure_manifest(NEW)
    manifest |= {"blobCount": None, "blobs": [{"blobName": "a/1.csv"}, {"blobName": "b/2.csv"}]}
    inbox.put_json("manifest.json", manifest)
    assert inbox.fetch().content_hash == expected


def test_a_missing_or_repeated_part_changes_the_hash(tmp_path: Path) -> None:
    inbox = Inbox(tmp_path)
    inbox.put("1.csv")
    inbox.put("2.csv", b"a,b\n")
    both = inbox.fetch().content_hash
    inbox.put("3.csv", b"a,b\n")

    assert len({both, inbox.fetch().content_hash, inbox.fetch("1.csv").content_hash}) == 3
