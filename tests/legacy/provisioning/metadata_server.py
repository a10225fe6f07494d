"""A server of EC2 instance metadata (IMDSv2), which requires a token."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler

from tests.legacy.http_server import run_http_server

TOKEN = "metadata-token"


@dataclass
class MetadataServer:
    url: str = ""
    values: dict[str, str] = field(default_factory=dict)  # by the last part of the path
    requests_without_token: int = 0


@contextmanager
def metadata_server(**values: str) -> Iterator[MetadataServer]:
    metadata = MetadataServer(values=dict(values))

    class MetadataHandler(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            self._respond(TOKEN if self.path == "/latest/api/token" else None)

        def do_GET(self) -> None:
            if self.headers.get("X-aws-ec2-metadata-token") != TOKEN:
                metadata.requests_without_token += 1
                self._respond(None)
                return
            self._respond(metadata.values.get(self.path.rpartition("/")[2].replace("-", "_")))

        def _respond(self, body: str | None) -> None:
            self.send_response(404 if body is None else 200)
            self.end_headers()
            self.wfile.write((body or "").encode())

        def log_message(self, *_: object) -> None:
            return

    with run_http_server(MetadataHandler) as metadata.url:
        yield metadata
