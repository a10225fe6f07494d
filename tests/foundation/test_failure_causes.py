"""Sentences about failed file operations."""

from __future__ import annotations

import errno
import os

import pytest

from nimbill.foundation.failure_causes import describe_os_error


@pytest.mark.parametrize(
    ("number", "sentence"),
    [
        (errno.ENOSPC, "No space left on /srv/lake."),
        (errno.EDQUOT, "No space left on /srv/lake: its quota is used up."),
        (errno.EROFS, "Nothing can be written to /srv/lake: it is read-only."),
        (errno.EMFILE, "Too many files are open."),
        (errno.ENOENT, "/srv/lake: No such file or directory"),
    ],
)
def test_the_file_and_the_reason_are_named(number: int, sentence: str) -> None:
    error = OSError(number, os.strerror(number), "/srv/lake")

    assert describe_os_error(error) == sentence


def test_a_given_place_replaces_the_file() -> None:
    error = OSError(errno.ENOSPC, "x", "/private/folder")

    assert describe_os_error(error, "the disk of the lake") == (
        "No space left on the disk of the lake."
    )


def test_an_error_without_number_and_file_is_described_by_its_type() -> None:
    assert describe_os_error(TimeoutError()) == "The operating system refused: TimeoutError"
