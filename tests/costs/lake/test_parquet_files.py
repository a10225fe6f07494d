"""Files of the lake, in a folder and in an object store."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from nimbill.costs.lake.lake_error import LakeError
from nimbill.costs.lake.parquet_files import Lake, import_folder
from nimbill.foundation.ids import new_id
from tests.costs.generated_months import build_line, write_month
from tests.costs.object_store_server import ObjectStore

pytestmark = pytest.mark.usefixtures("store_credentials")

IMPORT_FOLDER = import_folder("org", vendor="aws", month="2026-09", import_id="imp")


@pytest.fixture(params=["folder", "object store"])
def lake(request: Any, tmp_path: Path) -> Lake:
    if request.param == "folder":
        return Lake(str(tmp_path / "lake"))
    store: ObjectStore = request.getfixturevalue("store")
    bucket = store.bucket(new_id("lake").replace("_", "-"))
    return Lake(store.address(f"{bucket}/some/prefix"))


def write_files(folder: Path, *names: str) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / name).write_text(f"content of {name}")
    return [folder / name for name in names]


# ── folder and object store ──────────────────────────────────────────────────────────────────────


def test_stored_files_can_be_listed_and_read(lake: Lake, tmp_path: Path) -> None:
    names = lake.put(
        write_month([build_line(), build_line()], tmp_path / "spool"), folder=IMPORT_FOLDER
    )

    assert names == [f"{IMPORT_FOLDER}/00000.parquet", f"{IMPORT_FOLDER}/00001.parquet"]
    assert lake.list_names("org") == names
    assert lake.list_names("org/aws/2026-08") == []
    assert lake.open_dataset(names).count_rows() == 2
    assert [file.num_rows for file in lake.read_metadata(names)] == [1, 1]


def test_storing_a_file_removes_the_original(lake: Lake, tmp_path: Path) -> None:
    files = write_files(tmp_path / "spool", "a", "b")

    lake.put(files, folder=IMPORT_FOLDER)

    assert not any(file.exists() for file in files)


def test_a_copied_file_can_be_fetched_and_remains_where_it_was(lake: Lake, tmp_path: Path) -> None:
    (file,) = write_files(tmp_path / "spool", "a")
    name = f"{IMPORT_FOLDER}/00000"

    lake.copy(file, name)
    lake.copy(file, name)  # a task that is repeated
    fetched = lake.fetch(name, tmp_path)

    assert fetched.read_text() == file.read_text() == "content of a"
    lake.remove([name])
    assert lake.list_names("org") == []
    assert file.is_file()


def test_a_file_with_the_same_name_replaces_the_first(lake: Lake, tmp_path: Path) -> None:
    for lines in (1, 3):
        (name,) = lake.put(
            write_month([build_line()] * lines, tmp_path, files=1), folder=IMPORT_FOLDER
        )

    assert lake.open_dataset([name]).count_rows() == 3


def test_only_the_named_files_are_removed(lake: Lake, tmp_path: Path) -> None:
    first = lake.put(write_files(tmp_path, "a", "b"), folder=IMPORT_FOLDER)
    others = lake.put(write_files(tmp_path, "a"), folder=f"{IMPORT_FOLDER}2")

    lake.remove([*first, f"{IMPORT_FOLDER}/never-there"])

    assert lake.list_names("org") == others


def test_a_file_that_does_not_exist_is_told_from_one_that_cannot_be_read(lake: Lake) -> None:
    with pytest.raises(FileNotFoundError):
        lake.open_file(f"{IMPORT_FOLDER}/never-there")


def test_empty_lists_are_accepted(lake: Lake) -> None:
    assert lake.put([], folder=IMPORT_FOLDER) == []
    lake.remove([])
    assert lake.list_names("org") == []


@pytest.mark.parametrize("name", ["", "/etc/passwd", "../out", "org/../../out", "a\\b"])
def test_names_outside_the_lake_are_refused(lake: Lake, name: str) -> None:
    for method in (lake.list_names, lambda name: lake.remove([name])):
        with pytest.raises(ValueError, match="inside the lake"):
            method(name)


# ── folder ───────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def folder(tmp_path: Path) -> Lake:
    return Lake(str(tmp_path / "lake"))


def test_empty_folders_are_removed(folder: Lake, tmp_path: Path) -> None:
    folder.remove(folder.put(write_files(tmp_path / "spool", "a"), folder=IMPORT_FOLDER))

    assert list((tmp_path / "lake").iterdir()) == []


def test_files_on_another_disk_are_copied(
    folder: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def other_disk(*_: object) -> None:
        raise OSError(errno.EXDEV, "Invalid cross-device link")

    monkeypatch.setattr(os, "link", other_disk)

    (name,) = folder.put(write_files(tmp_path / "spool", "a"), folder=IMPORT_FOLDER)

    assert (tmp_path / "lake" / name).read_text() == "content of a"
    assert folder.list_names("org") == [name]


def test_a_file_that_the_disk_refuses_to_open_is_an_error_of_the_lake(
    folder: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (name,) = folder.put(write_files(tmp_path / "spool", "a"), folder=IMPORT_FOLDER)

    def refuse(*_: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)

    with pytest.raises(LakeError, match="the disk of the lake: Permission denied"):
        folder.open_file(name)


class FailingCall:
    """Makes the n-th call that reaches the disk fail."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, error: int) -> None:
        self.remaining, self.error = -1, error
        calls = [
            (os, "link"),
            (os, "fsync"),
            (os, "open"),
            (Path, "mkdir"),
            (Path, "open"),
            (Path, "replace"),
            (shutil, "copyfileobj"),
        ]
        for owner, name in calls:
            monkeypatch.setattr(owner, name, self._wrap(getattr(owner, name)))

    def _wrap(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def wrapper(*args: Any, **options: Any) -> Any:
            self.remaining -= 1
            if self.remaining == 0:
                raise OSError(self.error, os.strerror(self.error))
            return call(*args, **options)

        return wrapper


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO, errno.EMFILE])
@pytest.mark.parametrize("other_disk", [False, True])
def test_if_any_call_fails_no_file_is_stored(
    folder: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: int, other_disk: bool
) -> None:
    before = folder.put(write_files(tmp_path / "spool", "a"), folder="org/before")
    if other_disk:
        monkeypatch.setattr(os, "link", lambda *_: (_ for _ in ()).throw(OSError(18, "other disk")))
    failing_call, failures = FailingCall(monkeypatch, error), 0
    for number in range(1, 60):
        files = write_files(tmp_path / f"spool{number}", "a", "b")
        failing_call.remaining = number
        try:
            names = folder.put(files, folder=IMPORT_FOLDER)
        except OSError:
            failing_call.remaining = -1
            failures += 1
            assert folder.list_names("org") == before
            assert [file.read_text() for file in files] == ["content of a", "content of b"]
        else:
            failing_call.remaining = -1
            assert folder.list_names("org") == sorted([*before, *names])
            folder.remove(names)
            if number > failures + 3:
                break
    assert failures > 5


def test_partial_files_of_a_killed_process_are_listed_and_removed(
    folder: Lake, tmp_path: Path
) -> None:
    names = folder.put(write_files(tmp_path / "spool", "a"), folder=IMPORT_FOLDER)
    partial = tmp_path / "lake" / IMPORT_FOLDER / "b.part"
    partial.write_text("half")

    assert folder.list_names(IMPORT_FOLDER) == [*names, f"{IMPORT_FOLDER}/b.part"]
    folder.remove([f"{IMPORT_FOLDER}/b"])
    assert folder.list_names(IMPORT_FOLDER) == names


def test_the_address_of_a_local_file_is_its_path(folder: Lake, tmp_path: Path) -> None:
    assert folder.addresses(["org/a"]) == [str(tmp_path / "lake/org/a")]


# ── object store ─────────────────────────────────────────────────────────────────────────────────


def test_addresses_of_objects_contain_no_credentials(store: ObjectStore) -> None:
    bucket = store.bucket("addresses")
    lake = Lake(store.address(f"key:secret@{bucket}/prefix"))

    assert lake.addresses(["org/a"]) == ["s3://addresses/prefix/org/a"]
    assert "secret" not in repr(lake)


def test_an_upload_that_fails_leaves_nothing(store: ObjectStore, tmp_path: Path) -> None:
    bucket = store.bucket("failing")
    lake = Lake(store.address(f"{bucket}/lake"))
    (there,) = write_files(tmp_path, "a")

    with pytest.raises(LakeError, match="No such file"):
        lake.put([there, tmp_path / "missing"], folder=IMPORT_FOLDER)

    assert lake.list_names("org") == []
    assert there.exists()


class DenyEverything(BaseHTTPRequestHandler):
    def _deny(self) -> None:
        self.send_response(403)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_GET = do_HEAD = _deny  # noqa: N815  # names of the library

    def log_message(self, *_: object) -> None:
        """Write nothing."""


@pytest.fixture
def private_lake() -> Iterator[Lake]:
    with ThreadingHTTPServer(("127.0.0.1", 0), DenyEverything) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        place = f"endpoint_override=127.0.0.1:{server.server_port}&scheme=http&region=us-east-1"
        yield Lake(f"s3://private/lake?{place}")
        server.shutdown()


def test_a_store_that_denies_access_is_an_error_of_the_lake(private_lake: Lake) -> None:
    for call in (private_lake.is_empty, lambda: private_lake.open_file("org/a")):
        with pytest.raises(LakeError, match="denied access to the bucket private of the lake"):
            call()


def test_the_object_equals_the_file(store: ObjectStore, tmp_path: Path) -> None:
    bucket = store.bucket("arriving")
    lake = Lake(store.address(bucket))
    (file,) = write_month([build_line()] * 500, tmp_path, files=1)
    content = file.read_bytes()

    (name,) = lake.put([file], folder=IMPORT_FOLDER)

    body = store.client.get_object(Bucket=bucket, Key=name)["Body"]
    with body:
        assert body.read() == content
