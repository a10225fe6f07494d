"""A worker of the service that restarts at once: forked from a process with everything imported.

`nimbill serve` takes seconds to restart a worker and gives up on one that dies too often. Here it
is forked as often as it is killed; it runs the same service.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tests.fault_injection.replacements import PYTHON_PATH
from tests.proof.real_server import ROOT, NotStarted, free_port

READY_SECONDS_MAX = 60
STOP_SECONDS_MAX = 180


@dataclass(frozen=True)
class ForkedWorkers:
    process: subprocess.Popen[bytes]
    port: int
    current: Path  # contains the id of the current worker, which leads its own process group

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def worker(self) -> int:
        return int(self.current.read_text() or 0)

    def kill(self) -> bool:
        """Kill the worker and everything it started; return whether there was one."""
        worker = self.worker()
        if not worker:
            return False
        try:
            os.killpg(worker, signal.SIGKILL)
        except ProcessLookupError:
            return False
        return True


@contextmanager
def forked_workers(folder: Path, environment: Mapping[str, str]) -> Iterator[ForkedWorkers]:
    """Always stopped by its own process id."""
    port, current = free_port(), folder / "worker"
    current.write_text("")
    with (folder / "workers.log").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.proof.forked_workers", str(port), str(current)],
            env={**environment, "PYTHONPATH": PYTHON_PATH},
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
    workers = ForkedWorkers(process, port, current)
    try:
        _wait_for_worker(workers)
        yield workers
    finally:
        process.terminate()
        with suppress(ProcessLookupError, FileNotFoundError, ValueError):
            workers.kill()
        process.wait(STOP_SECONDS_MAX)


def _wait_for_worker(workers: ForkedWorkers) -> None:
    until = time.monotonic() + READY_SECONDS_MAX
    while not workers.worker():
        if workers.process.poll() is not None or time.monotonic() > until:
            log = workers.current.with_name("workers.log").read_text(errors="replace")
            raise NotStarted(f"exit code {workers.process.poll()}:\n{log[-2000:]}")
        time.sleep(0.05)


# ── the process they are forked from ─────────────────────────────────────────────────────────────


def main() -> None:
    port, current = int(sys.argv[1]), Path(sys.argv[2])
    # It would be loaded late.  # version 3
    import nimbill.legacy.provisioning.aws_provisioner  # noqa: F401  # version 3
    from nimbill.application.app import add_middleware, create_litestar_app
    from nimbill.foundation.logs import configure_logs
    from nimbill.foundation.settings import read_settings

    configure_logs()
    settings = read_settings()
    app = add_middleware(create_litestar_app(settings), settings)
    while True:
        worker = os.fork()
        if worker == 0:
            os.setpgid(0, 0)
            threading.Thread(target=_exit_with_parent, args=(os.getppid(),), daemon=True).start()
            _serve(app, port)
            os._exit(0)
        with suppress(OSError):
            os.setpgid(worker, worker)  # parent or child, whichever is first
        new_file = current.with_suffix(".new")
        new_file.write_text(str(worker))
        new_file.replace(current)
        os.waitpid(worker, 0)


def _exit_with_parent(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.2)
    os.killpg(os.getpid(), signal.SIGKILL)


def _serve(app: object, port: int) -> None:
    from granian.constants import Interfaces
    from granian.log import LogLevels
    from granian.server.embed import Server

    async def serve() -> None:
        server = Server(
            app,
            address="127.0.0.1",
            port=port,
            interface=Interfaces.ASGI,
            websockets=False,
            log_level=LogLevels.warning,
        )
        await server.serve()

    asyncio.run(serve())


if __name__ == "__main__":
    main()
