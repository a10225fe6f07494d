"""The Parquet files of the months, in a folder and in an object store."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from nimbill.costs.lake.parquet_files import Lake, folder_of
from nimbill.foundation.ids import new_id
from tests.costs.generated_months import line, write_month
from tests.costs.object_store_server import CREDENTIALS, ObjectStore, object_store

UNDER = folder_of("org", vendor="aws", month="2026-09", import_id="imp")


@pytest.fixture(scope="module")
def store() -> Iterator[ObjectStore]:
    with pytest.MonkeyPatch.context() as environment, object_store() as running:
        for name, value in CREDENTIALS.items():
            environment.setenv(name, value)
        yield running


@pytest.fixture(params=["folder", "object store"])
def lake(request: Any, tmp_path: Path) -> Lake:
    if request.param == "folder":
        return Lake(str(tmp_path / "lake"))
    store: ObjectStore = request.getfixturevalue("store")
    bucket = store.bucket(new_id("lake").replace("_", "-"))
    return Lake(store.address(f"{bucket}/some/prefix"))


def written(folder: Path, *names: str) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / name).write_text(f"content of {name}")
    return [folder / name for name in names]


# ── both ─────────────────────────────────────────────────────────────────────────────────────────


def test_files_are_found_where_they_were_put(lake: Lake, tmp_path: Path) -> None:
    names = lake.put(write_month([line(), line()], tmp_path / "spool"), under=UNDER)

    assert names == [f"{UNDER}/00000.parquet", f"{UNDER}/00001.parquet"]
    assert lake.names("org") == names
    assert lake.names("org/aws/2026-08") == []
    assert lake.dataset(names).count_rows() == 2
    assert [file.num_rows for file in lake.metadata(names)] == [1, 1]


def test_files_that_were_put_are_gone_from_where_they_were(lake: Lake, tmp_path: Path) -> None:
    files = written(tmp_path / "spool", "a", "b")

    lake.put(files, under=UNDER)

    assert not any(file.exists() for file in files)


def test_the_same_files_again_take_the_place_of_the_first(lake: Lake, tmp_path: Path) -> None:
    for many in (1, 3):
        (name,) = lake.put(write_month([line()] * many, tmp_path, files=1), under=UNDER)

    assert lake.dataset([name]).count_rows() == 3


def test_what_is_removed_is_gone_and_the_rest_stays(lake: Lake, tmp_path: Path) -> None:
    first = lake.put(written(tmp_path, "a", "b"), under=UNDER)
    others = lake.put(written(tmp_path, "a"), under=f"{UNDER}2")

    lake.remove([*first, f"{UNDER}/never-there"])

    assert lake.names("org") == others


def test_no_files_are_no_trouble(lake: Lake) -> None:
    assert lake.put([], under=UNDER) == []
    lake.remove([])
    assert lake.names("org") == []


@pytest.mark.parametrize("name", ["", "/etc/passwd", "../out", "org/../../out", "a\\b"])
def test_no_name_leads_out_of_the_lake(lake: Lake, name: str) -> None:
    for asked in (lake.names, lambda name: lake.remove([name])):
        with pytest.raises(ValueError, match="inside the lake"):
            asked(name)


# ── a folder ─────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def folder(tmp_path: Path) -> Lake:
    return Lake(str(tmp_path / "lake"))


def test_folders_left_empty_go(folder: Lake, tmp_path: Path) -> None:
    folder.remove(folder.put(written(tmp_path / "spool", "a"), under=UNDER))

    assert list((tmp_path / "lake").iterdir()) == []


def test_files_of_another_disk_are_copied(
    folder: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def other_disk(*_: object) -> None:
        raise OSError(errno.EXDEV, "Invalid cross-device link")

    monkeypatch.setattr(os, "link", other_disk)

    (name,) = folder.put(written(tmp_path / "spool", "a"), under=UNDER)

    assert (tmp_path / "lake" / name).read_text() == "content of a"
    assert folder.names("org") == [name]


class NthCallFails:
    """The n-th of all calls that reach the disk fails, whichever it is."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, error: int) -> None:
        self.left, self.error = -1, error
        calls = [
            (os, "link"),
            (os, "fsync"),
            (os, "open"),
            (Path, "mkdir"),
            (Path, "open"),
            (Path, "replace"),
            (shutil, "copyfileobj"),
        ]
        for where, name in calls:
            monkeypatch.setattr(where, name, self._counted(getattr(where, name)))

    def _counted(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*args: Any, **more: Any) -> Any:
            self.left -= 1
            if self.left == 0:
                raise OSError(self.error, os.strerror(self.error))
            return call(*args, **more)

        return counted


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO, errno.EMFILE])
@pytest.mark.parametrize("other_disk", [False, True])
def test_whichever_call_fails_there_are_all_files_or_none(
    folder: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: int, other_disk: bool
) -> None:
    before = folder.put(written(tmp_path / "spool", "a"), under="org/before")
    if other_disk:
        monkeypatch.setattr(os, "link", lambda *_: (_ for _ in ()).throw(OSError(18, "other disk")))
    failing, failures = NthCallFails(monkeypatch, error), 0
    for number in range(1, 60):
        files = written(tmp_path / f"spool{number}", "a", "b")
        failing.left = number
        try:
            names = folder.put(files, under=UNDER)
        except OSError:
            failing.left = -1
            failures += 1
            assert folder.names("org") == before
            assert [file.read_text() for file in files] == ["content of a", "content of b"]
        else:
            failing.left = -1
            assert folder.names("org") == sorted([*before, *names])
            folder.remove(names)
            if number > failures + 3:
                break
    assert failures > 5


def test_what_a_killed_process_left_half_done_is_seen_and_removed(
    folder: Lake, tmp_path: Path
) -> None:
    names = folder.put(written(tmp_path / "spool", "a"), under=UNDER)
    half_done = tmp_path / "lake" / UNDER / "b.part"
    half_done.write_text("half")

    assert folder.names(UNDER) == [*names, f"{UNDER}/b.part"]
    folder.remove([f"{UNDER}/b"])
    assert folder.names(UNDER) == names


def test_addresses_are_those_other_programs_need(folder: Lake, tmp_path: Path) -> None:
    assert folder.addresses(["org/a"]) == [str(tmp_path / "lake/org/a")]


# ── an object store ──────────────────────────────────────────────────────────────────────────────


def test_objects_have_addresses_without_credentials(store: ObjectStore) -> None:
    bucket = store.bucket("addresses")
    written_with = store.address(f"key:secret@{bucket}/prefix")
    lake = Lake(written_with)

    assert lake.addresses(["org/a"]) == ["s3://addresses/prefix/org/a"]
    assert "secret" not in repr(lake)


def test_an_upload_that_fails_leaves_nothing(store: ObjectStore, tmp_path: Path) -> None:
    bucket = store.bucket("failing")
    lake = Lake(store.address(f"{bucket}/lake"))
    (there,) = written(tmp_path, "a")

    with pytest.raises(OSError, match="missing"):
        lake.put([there, tmp_path / "missing"], under=UNDER)

    assert lake.names("org") == []
    assert there.exists()


def test_what_arrives_is_what_was_sent(store: ObjectStore, tmp_path: Path) -> None:
    bucket = store.bucket("arriving")
    lake = Lake(store.address(bucket))
    (file,) = write_month([line()] * 500, tmp_path, files=1)
    sent = file.read_bytes()

    (name,) = lake.put([file], under=UNDER)

    body = store.client.get_object(Bucket=bucket, Key=name)["Body"]
    with body:
        arrived = body.read()
    assert arrived == sent
