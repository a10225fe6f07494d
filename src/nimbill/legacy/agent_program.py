"""The agent that runs on a launched instance: it tells the service how things go, over HTTP."""

import json
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

from nimbill.foundation.basis import chosen

basis = chosen("agent-program")

METADATA_ADDRESS = "http://169.254.169.254"
METADATA_SECONDS = 1.0
ANSWER_BYTES_MAX = 4 * 1_048_576
PAUSES = (0.5, 1, 2, 4)  # seconds between tries; the last again and again
LAST_WORDS_SECONDS = 10.0  # a machine that shuts down does not wait for ever
COME_BACK = (408, 425, 429, 500, 502, 503, 504)


class UnusableConfig(Exception):
    """The agent cannot start with this; the message says what is missing."""


class TokenRefused(Exception):
    """The service does not know the stack, or not any more, or not this token."""


class Unanswered(Exception):
    """The service could not be reached in time."""


@dataclass(frozen=True, slots=True)
class AgentConfig:
    """Where the service is, and for which layer of which stack this instance was launched."""

    address: str
    stack_id: str
    flag: str
    token: str = field(repr=False)
    instance_id: str = ""  # asked of the instance's metadata where it is empty
    agent_id: str = ""  # else the id of the instance
    metadata_address: str = METADATA_ADDRESS  # empty = there is none
    notice_file: Path | None = None  # a termination notice of one's own making
    poll_seconds: float = 30.0
    patience_seconds: float = 300.0  # for one question to the service
    answer_seconds: float = 20.0


NEEDED = ("address", "stack_id", "flag", "token")


def config_from(given: Mapping[str, Any]) -> AgentConfig:
    """What a configuration file, options and the environment say together."""
    known = {name: value for name, value in given.items() if name in AgentConfig.__slots__}
    missing = [name for name in NEEDED if not known.get(name)]
    if missing:
        raise UnusableConfig(f"the agent needs {', '.join(missing)}")
    texts = (*NEEDED, "instance_id", "agent_id", "metadata_address")
    if not all(isinstance(known.get(name, ""), str) for name in texts):
        raise UnusableConfig("the agent's configuration must be texts")
    parts = urlsplit(known["address"])
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UnusableConfig("the agent's address must be an http or https address")
    return AgentConfig(**known)


class Agent:
    """One instance's agent; every question is asked again until patience ends."""

    def __init__(self, config: AgentConfig) -> None:
        self.config = config
        self.instance_id = config.instance_id or self._own_instance_id()
        self.agent_id = config.agent_id or self.instance_id
        if not self.agent_id:
            raise UnusableConfig("the agent needs instance_id: the metadata does not tell it")
        self._token = ""
        self._configured = b""  # as it was last sent
        self._told_of_notice = False
        self._stopping = threading.Event()

    def boot(self) -> dict[str, Any] | None:
        """Register, fetch the configuration and bring the container up; what was fetched."""
        self.report("starting")
        self.report("installing")
        found = self.configuration()
        if found is not None:
            self.report_container("starting")
            self.report_container("running")
        return found

    def run(self) -> None:
        """Until stopped; a changed configuration is taken up, a notice is passed on."""
        self.boot()
        while not self._stopping.wait(self.config.poll_seconds):
            try:
                self.look_around()
            except Unanswered:
                continue  # it will be there again
        self.leave()

    def stop(self) -> None:
        """May be called from a signal handler."""
        self._stopping.set()

    def look_around(self) -> None:
        """Once: for another configuration, and for a notice."""
        self.take_up()
        if not self._told_of_notice and (notice := self.notice()) is not None:
            self.report("spot_terminate", notice)
            self._told_of_notice = True

    def take_up(self) -> None:
        """Another configuration than the last one, if there is one."""
        before = self._configured
        if self.configuration() is not None and self._configured != before:
            self.report_container("updating")
            self.report_container("running")

    def leave(self) -> None:
        """The last words of an instance that goes."""
        if self._configured or self.configuration() is not None:
            self.report_container("terminated")
        self.report("terminated")

    def report(self, status: str, message: str | None = None) -> None:
        said = {"message": message[:1_000]} if message else {}
        self._tell("agent_status", {"status": status, **said})

    def report_container(self, status: str) -> None:
        """The instance has one container, and it bears the instance's name."""
        self._tell("container_status", {"status": status, "container_id": self.agent_id})

    def configuration(self) -> dict[str, Any] | None:
        """None where the layer defines no container."""
        asked = urlencode({"stack_id": self.config.stack_id, "flag": self.config.flag})
        self._configured = self._ask("GET", f"/v3/alm/agent/config?{asked}")
        return json.loads(self._configured) if self._configured else None

    def notice(self) -> str | None:
        """What the notice file or the instance's metadata say of its end, if anything."""
        file = self.config.notice_file
        if file is not None and file.exists():
            return file.read_text(errors="replace").strip() or "a termination notice"
        return self._metadata("/latest/meta-data/spot/instance-action")

    def _tell(self, what: str, said: Mapping[str, str]) -> None:
        who = {"stack_id": self.config.stack_id, "agent_id": self.agent_id}
        if self.instance_id:
            who["instance_id"] = self.instance_id
        self._ask("POST", f"/v3/alm/agent/{what}", {**who, **said})

    def _ask(self, method: str, path: str, body: Mapping[str, str] | None = None) -> bytes:
        """With a token; once more with a fresh one where the old one does not stand."""
        for token in (self._token, ""):
            self._token = token or self._logged_in()
            status, answer = self._patiently(method, path, body, self._token)
            if status != 401:
                break
        if status in (401, 403, 404):
            raise TokenRefused(f"the service answered {status}")
        if status not in (200, 202):
            raise Unanswered(f"the service answered {status}")
        return answer

    def _logged_in(self) -> str:
        body = {
            "grant_type": "client_credentials",
            "client_id": self.config.stack_id,
            "client_secret": self.config.token,
        }
        status, answer = self._patiently("POST", "/v3/access_token", body, "")
        if status != 200:
            raise TokenRefused(f"the login was answered {status}")
        token: str = json.loads(answer)["access_token"]
        return token

    def _patiently(
        self, method: str, path: str, body: Mapping[str, str] | None, token: str
    ) -> tuple[int, bytes]:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        leaving = self._stopping.is_set()
        patience = LAST_WORDS_SECONDS if leaving else self.config.patience_seconds
        until, tries = time.monotonic() + min(patience, self.config.patience_seconds), 0
        while True:
            try:
                status, answer = _send(
                    self.config.address + path, method, headers, body, self.config.answer_seconds
                )
                if status not in COME_BACK:
                    return status, answer
                trouble = f"the service answered {status}"
            except (OSError, HTTPException) as error:
                trouble = f"the service cannot be reached ({type(error).__name__})"
            pause = PAUSES[min(tries, len(PAUSES) - 1)]
            tries += 1
            if time.monotonic() + pause > until:
                raise Unanswered(trouble)
            time.sleep(pause) if leaving else self._stopping.wait(pause)
            leaving = self._stopping.is_set()

    def _own_instance_id(self) -> str:
        return self._metadata("/latest/meta-data/instance-id") or ""

    def _metadata(self, path: str) -> str | None:
        """Of the machine itself, by a token as it wants it; None where it says nothing."""
        address = self.config.metadata_address
        if not address:
            return None
        try:
            lifetime = {"X-aws-ec2-metadata-token-ttl-seconds": "60"}
            _, token = _send(f"{address}/latest/api/token", "PUT", lifetime, None, METADATA_SECONDS)
            shown = {"X-aws-ec2-metadata-token": token.decode("ascii", "replace").strip()}
            status, answer = _send(address + path, "GET", shown, None, METADATA_SECONDS)
        except (OSError, HTTPException, ValueError):
            return None
        return answer.decode("utf-8", "replace") if status == 200 else None


def _send(
    url: str,
    method: str,
    headers: Mapping[str, str],
    body: Mapping[str, str] | None,
    seconds: float,
) -> tuple[int, bytes]:
    parts = urlsplit(url)
    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=seconds)
    sent = None if body is None else json.dumps(body).encode()
    json_kind = {} if sent is None else {"Content-Type": "application/json"}
    path = f"{parts.path}?{parts.query}" if parts.query else parts.path
    try:
        connection.request(method, path, sent, {**headers, **json_kind})
        response = connection.getresponse()
        return response.status, response.read(ANSWER_BYTES_MAX)
    finally:
        connection.close()
