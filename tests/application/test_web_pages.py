"""The routes of the web consoles: pages, their policy, and compressed files."""

from __future__ import annotations

import gzip
import re

import pytest

from nimbill.application.web_pages import CONSOLE_POLICY
from tests.running_service import Service


def find_script(service: Service) -> str:
    page = service.http.get("/console").text
    (script,) = re.findall(r'src="(/web/assets/[^"]+\.js)"', page)
    return str(script)


def test_the_root_leads_to_the_console(service: Service) -> None:
    response = service.http.get("/", follow_redirects=False)

    assert (response.status_code, response.headers["Location"]) == (302, "/console")


@pytest.mark.parametrize("path", ["", "/", "/months/2026-09/aws", "/no/such/page"])
def test_every_address_of_the_console_returns_its_page(service: Service, path: str) -> None:
    response = service.http.get(f"/console{path}")

    assert response.status_code == 200
    assert response.headers["Content-Type"].startswith("text/html")
    assert response.headers["Content-Security-Policy"] == CONSOLE_POLICY
    assert response.headers["Cache-Control"] == "no-cache"
    assert '<div id="root">' in response.text


@pytest.mark.parametrize(
    ("accepted", "sent"),
    [
        ("gzip, deflate, br, zstd", "br"),
        ("gzip", "gzip"),
        ("br;q=0, gzip;q=0.5", "gzip"),
        ("identity", None),
        ("", None),
    ],
)
def test_files_are_sent_in_an_encoding_that_the_browser_accepts(
    service: Service, accepted: str, sent: str | None
) -> None:
    script = find_script(service)
    with service.http.stream("GET", script, headers={"Accept-Encoding": accepted}) as response:
        content = b"".join(response.iter_raw())

    assert response.headers.get("Content-Encoding") == sent
    assert response.headers["Vary"] == "Accept-Encoding"
    assert response.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert response.headers["Content-Type"].startswith("text/javascript")
    if sent == "gzip":
        assert b"import" in gzip.decompress(content)
    if sent is None:
        assert b"import" in content


@pytest.mark.parametrize("name", ["none.js", "..%2f..%2fconsole.html", "console.html"])
def test_only_built_files_are_returned(service: Service, name: str) -> None:
    assert service.http.get(f"/web/assets/{name}").status_code == 404
