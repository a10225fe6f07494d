"""A real `nimbill serve` in separate processes on a free port."""

from __future__ import annotations

import fcntl
import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import httpx

from tests.fault_injection.replacements import PYTHON_PATH
from tests.plain_http import NO_TLS

ROOT = Path(__file__).parents[2]
PASSWORD = "correct horse 7"
PORTS = range(20_000, 32_000)
READY_SECONDS_MAX = 180
STOP_SECONDS_MAX = 180


class NotStarted(Exception):
    """The server ended or never became ready; the message contains the end of its log."""


@dataclass(frozen=True)
class RealServer:
    process: subprocess.Popen[bytes]
    port: int
    data: Path
    log: Path
    environment: Mapping[str, str]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def init(self, name: str = "Proof", password: str = PASSWORD) -> dict[str, str]:
        """Create an organisation; returns the output of `nimbill init`."""
        command = ["init", "--organisation", name, "--username", "root"]
        result = nimbill(
            *command, "--password-stdin", "--json", env=self.environment, sent=password
        )
        assert result.returncode == 0, result.stderr
        organisation: dict[str, str] = json.loads(result.stdout)
        return organisation

    def token(self, organisation: Mapping[str, str]) -> str:
        form = {
            "grant_type": "client_credentials",
            "client_id": organisation["client_id"],
            "client_secret": organisation["client_secret"],
        }
        answer = httpx.post(f"{self.url}/core/access_token", data=form, timeout=30, verify=NO_TLS)
        assert answer.status_code == 200, answer.text
        token: str = answer.json()["access_token"]
        return token

    def workers(self) -> list[int]:
        """The worker processes, oldest first: children of the main process without its trackers.

        Process ids say nothing about age, because the kernel starts again at low ids.
        """
        pids = [pid for pid in children(self.process.pid) if b"resource_tracker" not in _line(pid)]
        return sorted(filter(_started_at, pids), key=_started_at)

    def resident_bytes(self) -> int:
        """Memory of all its processes; shared pages count for each."""
        page = os.sysconf("SC_PAGE_SIZE")
        pids = [self.process.pid, *children(self.process.pid)]
        return sum(int(_read(pid, "statm").split()[1] or 0) * page for pid in pids)


@contextmanager
def real_server(
    data: Path, environment: Mapping[str, str] | None = None, *, workers: int = 2
) -> Iterator[RealServer]:
    """Yields a ready server and always stops it by its process id."""
    env = environment_for(data, environment)
    port = free_port()
    data.mkdir(parents=True, exist_ok=True)
    log = data.parent / f"{data.name}.log"
    line = [sys.executable, "-m", "nimbill", "serve", "--port", str(port)]
    with log.open("ab") as out:
        process = subprocess.Popen(
            [*line, "--workers", str(workers)],
            env=env,
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
    server = RealServer(process, port, data, log, env)
    try:
        _wait_until_ready(server)
        yield server
    finally:
        stop(process)


def environment_for(data: Path, more: Mapping[str, str] | None = None) -> dict[str, str]:
    """A clean environment in which `import nimbill` finds this checkout, with replaced texts."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("NIMBILL_")}
    env.pop("PROMETHEUS_MULTIPROC_DIR", None)
    return env | {"NIMBILL_DATA": str(data), "PYTHONPATH": PYTHON_PATH, **(more or {})}


def nimbill(
    *words: str, env: Mapping[str, str], sent: str = "", seconds_max: int = 120
) -> subprocess.CompletedProcess[str]:
    """Run one command to completion."""
    return subprocess.run(
        [sys.executable, "-m", "nimbill", *words],
        env=dict(env),
        cwd=ROOT,
        input=sent + "\n",
        capture_output=True,
        text=True,
        timeout=seconds_max,
        check=False,
    )


def free_port() -> int:
    """Reserve a port until this process ends.

    Outgoing connections get no port of this range, and a lock keeps other test processes away.
    """
    for port in random.SystemRandom().sample(PORTS, len(PORTS)):
        try:
            lock = os.open(Path(gettempdir(), f"nimbill-test-port-{port}"), os.O_CREAT | os.O_RDWR)
        except PermissionError:  # of another user
            continue
        with suppress(OSError), socket.socket() as probe:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as servers do
            probe.bind(("127.0.0.1", port))
            return port
        os.close(lock)
    raise AssertionError("every port is in use")


def children(pid: int) -> list[int]:
    """Every living descendant of a process."""
    parents: dict[int, list[int]] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            state = _read(int(folder.name), "stat").rpartition(")")[2].split()
            if state and state[0] != "Z":
                parents.setdefault(int(state[1]), []).append(int(folder.name))
    descendants, pending = [], [pid]
    while pending:
        child_pids = parents.get(pending.pop(), [])
        descendants += child_pids
        pending += child_pids
    return descendants


def _read(pid: int, name: str) -> str:
    try:
        return Path(f"/proc/{pid}/{name}").read_text(errors="replace")
    except OSError:
        return "0 0" if name == "statm" else ""


def _started_at(pid: int) -> int:
    """Ticks since the machine's start; 0 if the process has ended."""
    after_name = _read(pid, "stat").rpartition(")")[2].split()
    return int(after_name[19]) if after_name else 0


def _line(pid: int) -> bytes:
    return _read(pid, "cmdline").encode(errors="replace")


@dataclass(frozen=True, slots=True)
class StartAttempt:
    """Result of a start that should be refused."""

    code: int
    answered: bool  # whether it answered a request
    output: str


def try_to_serve(env: Mapping[str, str]) -> StartAttempt:
    """Start the server; stop it if it comes up anyway."""
    port, data = free_port(), Path(env["NIMBILL_DATA"])
    log = data.parent / f"{data.name}.log"
    line = [sys.executable, "-m", "nimbill", "serve", "--port", str(port), "--workers", "1"]
    with log.open("wb") as out:
        process = subprocess.Popen(
            line, env=dict(env), cwd=data, stdin=subprocess.DEVNULL, stdout=out, stderr=out
        )
    answered, until = False, time.monotonic() + READY_SECONDS_MAX
    try:
        with httpx.Client(timeout=2, verify=NO_TLS) as http:
            while process.poll() is None and time.monotonic() < until and not answered:
                answered = _answers(http, port)
                time.sleep(0.1)
    finally:
        stop(process)
    return StartAttempt(process.returncode, answered, log.read_text(errors="replace"))


def _answers(http: httpx.Client, port: int) -> bool:
    try:
        return http.get(f"http://127.0.0.1:{port}/healthz").status_code == 200
    except httpx.TransportError:
        return False


def _wait_until_ready(server: RealServer) -> None:
    until = time.monotonic() + READY_SECONDS_MAX
    with httpx.Client(timeout=5, verify=NO_TLS) as http:
        while time.monotonic() < until:
            if server.process.poll() is not None:
                break
            try:
                if http.get(f"{server.url}/readyz").status_code == 200:
                    return
            except httpx.TransportError:
                pass
            time.sleep(0.1)
    end: Any = server.log.read_text(errors="replace")[-2000:]
    raise NotStarted(f"exit code {server.process.poll()}; the end of its log:\n{end}")


def stop(process: subprocess.Popen[bytes]) -> None:
    """Stop it gracefully, or kill it; no other process is touched."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
    try:
        process.wait(STOP_SECONDS_MAX)
    except subprocess.TimeoutExpired:
        for pid in [process.pid, *children(process.pid)]:
            os.kill(pid, signal.SIGKILL)
        process.wait(60)
