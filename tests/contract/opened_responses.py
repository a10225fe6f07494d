"""What a response shows to a person: files are opened, and links are followed."""

from __future__ import annotations

import io
import zipfile
from urllib.parse import urlsplit

import httpx

from tests.invoicing.exports.export_requests import parse_rows
from tests.invoicing.pdf.pdf_text import extract_text
from tests.running_service import Service

LINK_FIELDS = ("path", "url", "data")  # of the responses to exports


def open_response(service: Service, response: httpx.Response) -> str:
    """Return the text of a response, of its PDF files, or of the CSV file that it links to."""
    match response.headers.get("content-type"):
        case "application/pdf":
            return extract_text(response.content)
        case "application/zip":
            return _read_archive(response.content)
        case "application/json" if link := _find_link(response):
            return _read_csv(service, link)
    return response.text


def _read_archive(content: bytes) -> str:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        texts = [f"{name}\n{_read_member(archive, name)}" for name in archive.namelist()]
    assert texts, "the archive is empty"
    return "\n".join(texts)


def _read_member(archive: zipfile.ZipFile, name: str) -> str:
    content = archive.read(name)
    return extract_text(content) if name.endswith(".pdf") else content.decode()


def _find_link(response: httpx.Response) -> str | None:
    body = response.json()
    if not isinstance(body, dict):
        return None
    links = [body.get(name) for name in LINK_FIELDS]
    return next((link for link in links if isinstance(link, str) and "/d/" in link), None)


def _read_csv(service: Service, link: str) -> str:
    address = urlsplit(link)
    file = service.http.get(f"{address.path}?{address.query}")
    assert file.status_code == 200, file.text
    return "\n".join("\t".join(row) for row in parse_rows(file.content))
