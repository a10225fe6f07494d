"""New folders and whole trees survive a power loss."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from nimbill.foundation.encryption import load_or_create_key
from nimbill.foundation.fsync import create_folder, fsync_path, fsync_tree
from tests.synced_names import recorded_syncs


def test_every_new_folder_is_synced_in_its_parent(tmp_path: Path) -> None:
    with recorded_syncs() as synced:
        create_folder(tmp_path / "a/b/c", 0o700)

    assert synced.survives(tmp_path / "a/b/c", below=tmp_path)
    assert stat.S_IMODE((tmp_path / "a/b/c").stat().st_mode) == 0o700


def test_an_existing_folder_is_left_alone(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    with recorded_syncs() as synced:
        create_folder(tmp_path, 0o700)

    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755
    assert not synced.has_content(tmp_path.parent)


def test_a_file_in_the_place_of_the_folder_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(FileExistsError):
        create_folder(tmp_path / "file")


def test_a_tree_is_synced_with_all_files(tmp_path: Path) -> None:
    (tmp_path / "tree/a/b").mkdir(parents=True)
    (tmp_path / "tree/a/b/file").touch()

    with recorded_syncs() as synced:
        fsync_tree(tmp_path / "tree")

    assert synced.survives(tmp_path / "tree/a/b/file", below=tmp_path / "tree")
    assert synced.has_content(tmp_path / "tree/a/b/file")


def test_no_descriptor_stays_open(tmp_path: Path) -> None:
    descriptor = os.open(tmp_path, os.O_RDONLY)
    os.close(descriptor)

    fsync_path(tmp_path)

    following = os.open(tmp_path, os.O_RDONLY)
    os.close(following)
    assert following == descriptor


def test_the_name_of_a_new_key_survives(tmp_path: Path) -> None:
    with recorded_syncs() as synced:
        load_or_create_key(tmp_path / "new/key")

    assert synced.survives(tmp_path / "new/key", below=tmp_path)
