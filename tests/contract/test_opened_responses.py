"""The isolation tests read everything in a file, or they would find nothing in it."""

from __future__ import annotations

import io
import zipfile
from typing import cast

import httpx
import pytest
from pypdfium2 import PdfDocument

from tests.contract.opened_responses import FileKind, open_files
from tests.running_service import Service

NO_SERVICE = cast(Service, None)  # no link is followed


def respond(media_type: str, content: bytes) -> httpx.Response:
    return httpx.Response(200, headers={"content-type": media_type}, content=content)


def build_archive(**members: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members.items():
            archive.writestr(name.replace("_", "."), content)
        archive.comment = b"kanarix-comment"
    return file.getvalue()


def build_pdf(attachment: bytes) -> bytes:
    file = io.BytesIO()
    with PdfDocument.new() as document:
        document.new_page(100, 100)
        document.new_attachment("lines.xml").set_data(attachment)
        document.save(file)
    return file.getvalue()


def test_archives_within_archives_are_opened() -> None:
    inner = build_archive(lines_csv=b'a,"kanarix\n-cell"\r\n')
    outer = build_archive(inner_zip=inner, note_pdf=build_pdf(b"<kanarix-attached/>"))

    opened = open_files(NO_SERVICE, respond("application/zip", outer))

    assert opened.kinds == {*FileKind}
    for text in ("lines.csv", "kanarix\n-cell", "kanarix-attached", "kanarix-comment"):
        assert text in opened.text


def test_a_file_of_another_kind_is_not_ignored() -> None:
    with pytest.raises(AssertionError, match="no test reads files of the type application/gzip"):
        open_files(NO_SERVICE, respond("application/gzip", b"\x1f\x8b"))
    with pytest.raises(UnicodeDecodeError):
        open_files(NO_SERVICE, respond("application/zip", build_archive(lines_gz=b"\x1f\x8b")))
