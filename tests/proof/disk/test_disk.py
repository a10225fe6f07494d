"""What the file system of the proof board loses in a power cut, and how its calls fail."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from nimbill.foundation.fsync import fsync_path
from tests.proof.disk.mounted_disk import MountedDisk, mounted_disk
from tests.proof.row import NotPossibleHere


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[MountedDisk]:
    try:
        with mounted_disk(tmp_path) as disk:
            (disk.folder / "old").write_bytes(b"a" * 10_000)
            (disk.folder / "folder").mkdir()
            (disk.folder / "folder/name").write_text("content")
            disk.mount()
            yield disk
    except NotPossibleHere as reason:
        pytest.skip(str(reason))


def cut(disk: MountedDisk, *, kept_share: float = 0.0) -> Path:
    disk.cut_power(kept_share=kept_share, seed="7")
    disk.unmount()
    disk.mount()
    return disk.folder


def write(path: Path, content: bytes, *, synced: bool) -> None:
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        if synced:
            os.fsync(file.fileno())


def test_everything_is_seen_until_the_cut(disk: MountedDisk) -> None:
    write(disk.folder / "new", b"new", synced=False)

    assert (disk.folder / "new").read_bytes() == b"new"
    assert sorted(path.name for path in disk.folder.iterdir()) == ["folder", "new", "old"]


def test_content_survives_as_of_the_last_sync(disk: MountedDisk) -> None:
    with (disk.folder / "old").open("r+b") as file:
        file.write(b"b" * 5000)
        file.flush()
        os.fsync(file.fileno())
        file.write(b"c" * 9000)
        file.flush()
        os.ftruncate(file.fileno(), 6000)

    assert (cut(disk) / "old").read_bytes() == b"b" * 5000 + b"a" * 5000


def test_a_new_file_survives_once_it_was_synced(disk: MountedDisk) -> None:
    write(disk.folder / "synced", b"content", synced=True)
    write(disk.folder / "lost", b"content", synced=False)
    (disk.folder / "old").unlink()

    folder = cut(disk)

    assert (folder / "synced").read_bytes() == b"content"
    assert not (folder / "lost").exists()
    assert (folder / "old").exists(), "the removal was not synced"


def test_a_synced_folder_keeps_names_but_no_contents(disk: MountedDisk) -> None:
    write(disk.folder / "named", b"content", synced=False)
    (disk.folder / "old").unlink()
    fsync_path(disk.folder)

    folder = cut(disk)

    assert (folder / "named").read_bytes() == b""
    assert not (folder / "old").exists()


def test_a_new_folder_needs_a_sync_of_its_parent(disk: MountedDisk) -> None:
    for name in ("lost", "kept"):
        (disk.folder / "folder" / name).mkdir()
        write(disk.folder / "folder" / name / "file", b"content", synced=True)
        if name == "kept":
            fsync_path(disk.folder / "folder")
            (disk.folder / "lost").mkdir()
            (disk.folder / "folder/kept").rename(disk.folder / "lost/kept")

    folder = cut(disk)

    assert (folder / "folder/kept/file").read_bytes() == b"content"
    assert not (folder / "lost").exists()


@pytest.mark.parametrize("synced", ["folder", ".", "folder/new"])
def test_a_rename_survives_after_a_sync_of_either_folder_or_the_file(
    disk: MountedDisk, synced: str
) -> None:
    (disk.folder / "old").rename(disk.folder / "folder/new")
    fsync_path(disk.folder / synced)

    folder = cut(disk)

    assert not (folder / "old").exists()
    assert (folder / "folder/new").read_bytes() == b"a" * 10_000


def test_a_rename_without_a_sync_is_undone(disk: MountedDisk) -> None:
    write(disk.folder / "new", b"new", synced=True)
    (disk.folder / "new").rename(disk.folder / "old")
    os.link(disk.folder / "old", disk.folder / "other")

    folder = cut(disk)

    assert (folder / "new").read_bytes() == b"new"
    assert (folder / "old").read_bytes() == b"a" * 10_000
    assert not (folder / "other").exists()


def test_some_pages_arrive_if_the_disk_was_writing(disk: MountedDisk) -> None:
    write(disk.folder / "old", b"b" * 4096 * 100, synced=False)

    content = (cut(disk, kept_share=0.5) / "old").read_bytes()

    pages = {content[start : start + 4096] for start in range(0, len(content), 4096)}
    assert b"b" * 4096 in pages
    assert len(pages) > 1


@pytest.mark.parametrize("call", ["open", "write", "fsync", "rename"])
def test_the_chosen_call_fails_once(disk: MountedDisk, call: str) -> None:
    def replace() -> None:
        write(disk.folder / "new", b"new", synced=True)
        (disk.folder / "new").rename(disk.folder / "old")

    disk.fail_call(1, errno.ENOSPC, calls=[call])

    with pytest.raises(OSError, match="No space"):
        replace()
    replace()

    assert disk.stop_failing().split()[0] == call
