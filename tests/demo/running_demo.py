"""The demo in a real process, started as a newcomer starts it."""

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

from nimbill.demo.story import AOZORA, Reseller
from nimbill.demo.story_months import MONTHS_MIN
from tests.command_line import SECONDS_MAX, environment, started
from tests.proof.real_server import free_port

LIFE_SECONDS_MAX = 600  # of a demo that is told, looked at and stopped
LAST_LINE = "Ctrl-C stops it."
LOGIN = ("organisation_id", "username", "password", "client_id", "client_secret")


class Demo:
    def __init__(self, process: subprocess.Popen[str], folder: Path, port: int) -> None:
        self.process = process
        self.folder = folder
        self.address = f"http://127.0.0.1:{port}"
        self.page = "".join(self._lines())
        assert LAST_LINE in self.page, self._why_not()

    def _lines(self) -> Iterator[str]:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            yield line
            if line.startswith(LAST_LINE):
                return

    def _why_not(self) -> str:
        assert self.process.stderr is not None
        return self.page + self.process.stderr.read()

    @property
    def login(self) -> dict[str, str]:
        return {
            name: re.findall(rf"^  {name} +(\S+)$", self.page, re.MULTILINE)[0] for name in LOGIN
        }

    @property
    def commands(self) -> str:
        """Everything from the first comment on: what somebody would paste."""
        first, last = self.page.index("\n# "), self.page.index(LAST_LINE)
        return self.page[first:last]

    def token(self, reseller: Reseller = AOZORA) -> str:
        kept = json.loads((self.folder / "demo.json").read_text())[reseller.english_name]
        form = {name: kept[name] for name in ("client_id", "client_secret")}
        answer = httpx.post(
            f"{self.address}/core/access_token", data=form | {"grant_type": "client_credentials"}
        )
        token: str = answer.json()["access_token"]
        return token

    def stop(self, with_signal: signal.Signals) -> tuple[int, str]:
        os.killpg(self.process.pid, with_signal)  # Ctrl-C reaches every process of a terminal
        rest, _ = self.process.communicate(timeout=SECONDS_MAX)
        return self.process.returncode, rest


@contextmanager
def running_demo(folder: Path, port: int | None = None) -> Iterator[Demo]:
    """In the folder a newcomer stands in, with nothing set and as few months as there can be."""
    port = port or free_port()
    env = environment(folder / "unused")
    del env["NIMBILL_DATA"]
    words = ("--port", str(port), "--months", str(MONTHS_MIN))
    process = started("demo", *words, env=env, cwd=folder)
    watchdog = threading.Timer(LIFE_SECONDS_MAX, process.kill)
    watchdog.start()
    try:
        yield Demo(process, folder / ".nimbill-demo", port)
    finally:
        watchdog.cancel()
        if process.poll() is None:
            process.terminate()
            process.wait(SECONDS_MAX)
        for stream in (process.stdin, process.stdout, process.stderr):
            assert stream is not None
            stream.close()
