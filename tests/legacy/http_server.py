"""HTTP servers on loopback for tests of agents, which connect to real addresses."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.running_service import Service


@contextmanager
def run_http_server(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """Run a server in a thread and yield its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class ServiceBridge:
    """Passes HTTP requests to the test client of a service that runs in this process."""

    def __init__(self) -> None:
        self.url = ""
        self.service: Service | None = None  # responds 503 until it is set
        self.bodies: list[bytes] = []  # of all requests

    def forward(self, request: BaseHTTPRequestHandler) -> None:
        if self.service is None:
            request.send_error(503)
            return
        body = request.rfile.read(int(request.headers.get("Content-Length") or 0))
        self.bodies.append(body)
        names = ("Authorization", "Content-Type")
        headers = {name: request.headers[name] for name in names if name in request.headers}
        response = self.service.http.request(
            request.command, request.path, content=body, headers=headers
        )
        request.send_response(response.status_code)
        request.send_header("Content-Length", str(len(response.content)))
        request.end_headers()
        request.wfile.write(response.content)


@contextmanager
def run_service_bridge() -> Iterator[ServiceBridge]:
    """Start the bridge before its service, whose settings contain the address."""
    bridge = ServiceBridge()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            bridge.forward(self)

        def do_POST(self) -> None:
            bridge.forward(self)

        def log_message(self, *_: object) -> None:
            return

    with run_http_server(Handler) as bridge.url:
        yield bridge
