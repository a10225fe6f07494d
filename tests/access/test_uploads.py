"""Forms that are refused before anything is written."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from nimbill.access.uploads import SPACE_CHECK_BYTES, UPLOAD_BYTES_MAX, receive_upload
from nimbill.foundation.errors import Invalid, Unreadable


@pytest.mark.parametrize("content_type", ["multipart/form-data", "multipart/form-data; boundary="])
def test_a_form_without_a_boundary_is_refused_and_leaves_no_folder(
    tmp_path: Path, content_type: str
) -> None:
    async def send() -> AsyncIterator[bytes]:
        yield b"--\r\n"

    with pytest.raises(Invalid) as refused:
        asyncio.run(receive_upload(content_type, send(), tmp_path / "uploads" / "req_1"))

    assert refused.value.code == "malformed_body"
    assert list(tmp_path.iterdir()) == []


def test_an_upload_that_announces_too_much_is_refused_before_it_is_read(tmp_path: Path) -> None:
    """Also if it exceeds the limit by less than the framework's own limit allows."""

    read = []

    async def send() -> AsyncIterator[bytes]:
        read.append(1)
        yield b"--x--\r\n"

    content_type = "multipart/form-data; boundary=x"
    upload = receive_upload(
        content_type, send(), tmp_path / "req_1", announced_bytes=UPLOAD_BYTES_MAX + 1
    )
    with pytest.raises(Unreadable) as refused:
        asyncio.run(upload)

    assert read == []
    assert (refused.value.status, refused.value.code) == (413, "body_too_large")
    assert list(tmp_path.iterdir()) == []


def test_the_free_space_is_checked_every_8_mebibytes() -> None:
    assert SPACE_CHECK_BYTES == 8 * 1024 * 1024
