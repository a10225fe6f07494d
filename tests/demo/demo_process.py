"""Runs `nimbill demo` in a real process, as a new user starts it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from nimbill.demo.guide import TOUR
from nimbill.demo.monthly_data import MONTHS_MIN
from nimbill.demo.resellers import AOZORA, DemoReseller
from tests.command_line import SECONDS_MAX, build_environment, start_command
from tests.plain_http import NO_TLS
from tests.proof.real_server import free_port

DEMO_SECONDS_MAX = 600  # from start to stop, including the checks in between
LAST_LINE = "Press Ctrl-C to stop."
COMPLETE = "are complete."  # the end of the line that reports all months
LOGIN_FIELDS = ("organisation_id", "username", "password", "client_id", "client_secret")


class DemoProcess:
    def __init__(self, process: subprocess.Popen[str], folder: Path, port: int) -> None:
        self.process = process
        self.folder = folder
        self.address = f"http://127.0.0.1:{port}"
        self.guide = "".join(self._read_guide())
        assert LAST_LINE in self.guide, self._read_errors()

    def _read_guide(self) -> Iterator[str]:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            yield line
            if line.startswith(LAST_LINE):
                return

    def wait_for_all_months(self) -> None:
        """Wait until the past months, which follow the guide, are created too."""
        assert self.process.stdout is not None
        assert any(line.rstrip().endswith(COMPLETE) for line in self.process.stdout)

    def _read_errors(self) -> str:
        assert self.process.stderr is not None
        return self.guide + self.process.stderr.read()

    @property
    def login(self) -> dict[str, str]:
        return {
            name: re.findall(rf"^  {name} +(\S+)$", self.guide, re.MULTILINE)[0]
            for name in LOGIN_FIELDS
        }

    @property
    def commands(self) -> str:
        """The shell commands of the API tour."""
        return (self.folder / TOUR).read_text()

    def token(self, reseller: DemoReseller = AOZORA) -> str:
        login = json.loads((self.folder / "demo.json").read_text())[reseller.english_name]
        form = {name: login[name] for name in ("client_id", "client_secret")}
        response = httpx.post(
            f"{self.address}/core/access_token",
            data=form | {"grant_type": "client_credentials"},
            timeout=60,
            verify=NO_TLS,
        )
        token: str = response.json()["access_token"]
        return token

    def stop(self, stop_signal: signal.Signals) -> tuple[int, str]:
        """Return the exit code and the remaining output."""
        os.killpg(self.process.pid, stop_signal)  # a terminal sends Ctrl-C to the whole group
        output, _ = self.process.communicate(timeout=SECONDS_MAX)
        return self.process.returncode, output


@contextmanager
def start_demo(
    folder: Path,
    port: int | None = None,
    months: int = MONTHS_MIN,
    seconds_max: int = DEMO_SECONDS_MAX,
) -> Iterator[DemoProcess]:
    """Start in this working folder with default settings; end after `seconds_max` at the latest."""
    port = port or free_port()
    env = build_environment(folder / "unused")
    del env["NIMBILL_DATA"]
    options = ("--months", str(months))
    process = start_command("demo", "--port", str(port), *options, env=env, cwd=folder)
    watchdog = threading.Timer(seconds_max, process.kill)
    watchdog.start()
    try:
        yield DemoProcess(process, folder / ".nimbill-demo", port)
    finally:
        watchdog.cancel()
        if process.poll() is None:
            process.terminate()
            process.wait(SECONDS_MAX)
        for stream in (process.stdin, process.stdout, process.stderr):
            assert stream is not None
            stream.close()
