"""An HTTP server that receives webhooks and answers as the test says."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from nimbill.foundation import exact_json

SECONDS_MAX = 120  # only reached if a request is missing


@dataclass(frozen=True)
class Received:
    path: str
    headers: Mapping[str, str]  # names in lower case
    body: bytes

    @property
    def event_id(self) -> str:
        return self.headers["webhook-id"]

    @property
    def event(self) -> dict[str, Any]:
        event: dict[str, Any] = exact_json.decode(self.body)
        return event

    @property
    def event_type(self) -> str:
        return str(self.event["type"])


@dataclass
class Receiver:
    """Answers with the next status of `answers`, or with `status` if there is none."""

    status: int = 204
    answers: list[int] = field(default_factory=list)
    received: list[Received] = field(default_factory=list)
    port: int = 0
    # cleared: requests are received, but not answered before it is set
    is_answering: threading.Event = field(default_factory=threading.Event)
    _changed: threading.Condition = field(default_factory=threading.Condition)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hooks?from=nimbill"

    @property
    def event_types(self) -> list[str]:
        return [each.event_type for each in self.received]

    def answer(self, received: Received) -> int:
        with self._changed:
            self.received.append(received)
            self._changed.notify_all()
        self.is_answering.wait(SECONDS_MAX)
        return self.answers.pop(0) if self.answers else self.status

    def wait_for(self, number: int) -> list[Received]:
        """Wait for this many requests and return them."""
        with self._changed:
            is_complete = self._changed.wait_for(
                lambda: len(self.received) >= number, timeout=SECONDS_MAX
            )
        assert is_complete, f"{len(self.received)} requests instead of {number}"
        return list(self.received)


@contextmanager
def running_receiver(tls: ssl.SSLContext | None = None) -> Iterator[Receiver]:
    receiver = Receiver()
    receiver.is_answering.set()

    class WebhookHandler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            status = receiver.answer(Received(self.path, headers, body))
            self.send_response(status)
            if 300 <= status < 400:
                self.send_header("Location", f"http://127.0.0.1:{receiver.port}/elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), WebhookHandler)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    receiver.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield receiver
    finally:
        receiver.is_answering.set()
        server.shutdown()
        thread.join()
        server.server_close()
