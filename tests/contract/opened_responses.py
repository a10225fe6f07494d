"""What a response shows to a person: files are opened, and links are followed."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any
from urllib.parse import urlsplit

import httpx

from tests.invoicing.pdf.pdf_text import extract_text, read_attachments, read_properties
from tests.invoicing.pdf.pdf_text import remove_whitespace as join_lines
from tests.running_service import Service

INVISIBLE_BREAK = "\u200b"  # printed within long words


class FileKind(StrEnum):
    csv = "text/csv"
    pdf = "application/pdf"
    zip = "application/zip"


@dataclass(frozen=True)
class OpenedResponse:
    text: str  # of the response, and of everything in the files that it contains or links to
    kinds: frozenset[FileKind]  # the files that were opened


def open_response(service: Service, response: httpx.Response) -> str:
    return open_files(service, response).text


def open_files(service: Service, response: httpx.Response) -> OpenedResponse:
    """Open the file that the response is, or those that its body links to."""
    media_type = response.headers.get("content-type", "").partition(";")[0]
    if media_type in [*FileKind]:
        return _open_file(FileKind(media_type), response.content)
    if media_type not in ("application/json", "application/problem+json"):
        assert not response.content, f"no test reads files of the type {media_type}"
        return OpenedResponse("", frozenset())
    linked = [_follow(service, link) for link in _find_links(response.json())]
    return _join([OpenedResponse(response.text, frozenset()), *linked])


def _join(opened: list[OpenedResponse]) -> OpenedResponse:
    kinds = [kind for each in opened for kind in each.kinds]
    return OpenedResponse("\n".join(each.text for each in opened), frozenset(kinds))


def _find_links(value: Any) -> Iterator[str]:
    """The links to exported files, at any depth of a body."""
    if isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _find_links(each)
    elif isinstance(value, str) and urlsplit(value).path.startswith("/d/"):
        yield value


def _follow(service: Service, link: str) -> OpenedResponse:
    address = urlsplit(link)
    file = service.http.get(f"{address.path}?{address.query}")
    assert file.status_code == 200, file.text
    return open_files(service, file)


def _open_file(kind: FileKind, content: bytes) -> OpenedResponse:
    match kind:
        case FileKind.csv:
            rows = csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""), strict=True)
            text = "\n".join("\t".join(row) for row in rows)
        case FileKind.pdf:
            return _open_pdf(content)
        case FileKind.zip:
            return _open_archive(content)
    return OpenedResponse(text, frozenset({kind}))


def _open_pdf(content: bytes) -> OpenedResponse:
    """The text as printed and without line ends, which may divide a word; properties, too."""
    text = extract_text(content)
    joined = join_lines(text.replace(INVISIBLE_BREAK, ""))
    properties = "\n".join(read_properties(content).values())
    attached = [data.decode(errors="replace") for data in read_attachments(content)]
    texts = (text, joined, properties, *attached)
    return OpenedResponse("\n".join(texts), frozenset({FileKind.pdf}))


def _open_archive(content: bytes) -> OpenedResponse:
    opened = [OpenedResponse("", frozenset({FileKind.zip}))]
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert archive.namelist(), "the archive is empty"
        opened.append(OpenedResponse(archive.comment.decode(), frozenset()))
        for member in archive.infolist():
            names = f"{member.filename} {member.comment.decode()}"
            opened += [OpenedResponse(names, frozenset()), _open_member(archive, member.filename)]
    return _join(opened)


def _open_member(archive: zipfile.ZipFile, name: str) -> OpenedResponse:
    content = archive.read(name)
    suffix = name.rpartition(".")[2]
    if suffix in FileKind.__members__:
        return _open_file(FileKind[suffix], content)
    return OpenedResponse(content.decode(), frozenset())  # fails for a file that is not text
