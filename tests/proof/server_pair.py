"""Two real servers, each with one worker process, on the database of the environment."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from tests.proof.real_server import RealServer, real_server
from tests.proof.row_environment import RowEnvironment


@dataclass
class ServerPair:
    environment: RowEnvironment
    servers: list[RealServer]
    opened: list[ExitStack]  # one for each server
    restarts: int = 0

    @property
    def urls(self) -> list[str]:
        return [server.url for server in self.servers]

    def restart(self, number: int) -> None:
        """Stop one of the two and start it again, in a new process and on another port."""
        self.opened[number].close()
        self.servers[number] = _start(self.environment, self.opened[number])
        self.restarts += 1


@contextmanager
def server_pair(environment: RowEnvironment) -> Iterator[ServerPair]:
    _ = environment.service  # prepares the database
    with ExitStack() as first, ExitStack() as second:
        opened = [first, second]
        with ThreadPoolExecutor(2) as threads:
            servers = list(threads.map(lambda stack: _start(environment, stack), opened))
        yield ServerPair(environment, servers, opened)


def _start(environment: RowEnvironment, opened: ExitStack) -> RealServer:
    settings = {
        "NIMBILL_DATABASE_URL": environment.postgres.url,
        "NIMBILL_KEY_FILE": str(environment.service.settings.key_file),
        "NIMBILL_RATE_LIMIT": "0",
    }
    data = environment.new_folder("pair") / "data"
    return opened.enter_context(real_server(data, settings, workers=1))
