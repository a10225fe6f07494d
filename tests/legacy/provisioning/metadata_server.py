"""The metadata of an instance as EC2 gives them: against a token, with a notice if there is one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler

from tests.legacy.http_server import run_http_server

TOKEN = "metadata-token"


@dataclass
class Metadata:
    url: str = ""
    answers: dict[str, str] = field(default_factory=dict)
    without_token: int = 0  # questions that came without


@contextmanager
def metadata_server(**answers: str) -> Iterator[Metadata]:
    """Answers by the last part of their path."""
    metadata = Metadata(answers=dict(answers))

    class Answering(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:  # the library's word
            self._answer(TOKEN if self.path == "/latest/api/token" else None)

        def do_GET(self) -> None:
            if self.headers.get("X-aws-ec2-metadata-token") != TOKEN:
                metadata.without_token += 1
                self._answer(None)
                return
            self._answer(metadata.answers.get(self.path.rpartition("/")[2].replace("-", "_")))

        def _answer(self, body: str | None) -> None:
            self.send_response(404 if body is None else 200)
            self.end_headers()
            self.wfile.write((body or "").encode())

        def log_message(self, *_: object) -> None:
            return

    with run_http_server(Answering) as metadata.url:
        yield metadata
