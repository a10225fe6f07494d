"""The agent that runs on a launched instance and reports to the API over HTTP."""

import json
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

# See docs/choices.md, agent-program.

METADATA_ADDRESS = "http://169.254.169.254"
METADATA_SECONDS = 1.0
RESPONSE_BYTES_MAX = 4 * 1_048_576
RETRY_PAUSES = (0.5, 1, 2, 4)  # seconds; the last one repeats
SHUTDOWN_SECONDS = 10.0  # limit of retries while the instance shuts down
RETRIED_STATUSES = (408, 425, 429, 500, 502, 503, 504)


class InvalidAgentConfig(Exception):
    """The agent cannot start; the message says what is missing."""


class TokenRefused(Exception):
    """The token is invalid, or the stack does not exist or is deleted."""


class ServiceUnreachable(Exception):
    """The service did not answer within the time for retries."""


@dataclass(frozen=True, slots=True)
class AgentConfig:
    """The address of the API, and the layer that this instance belongs to."""

    address: str
    stack_id: str
    flag: str
    token: str = field(repr=False)
    instance_id: str = ""  # default: read from the instance metadata
    agent_id: str = ""  # default: the instance id
    metadata_address: str = METADATA_ADDRESS  # empty: there is no metadata service
    notice_file: Path | None = None  # replaces the termination notice of the metadata
    poll_seconds: float = 30.0
    patience_seconds: float = 300.0  # limit of retries per request
    timeout_seconds: float = 20.0  # of one attempt


REQUIRED = ("address", "stack_id", "flag", "token")


def read_agent_config(values: Mapping[str, Any]) -> AgentConfig:
    """`values` are those of the configuration file, the options and the environment together."""
    known = {name: value for name, value in values.items() if name in AgentConfig.__slots__}
    missing = [name for name in REQUIRED if not known.get(name)]
    if missing:
        raise InvalidAgentConfig(f"The agent needs {', '.join(missing)}.")
    strings = (*REQUIRED, "instance_id", "agent_id", "metadata_address")
    if not all(isinstance(known.get(name, ""), str) for name in strings):
        raise InvalidAgentConfig("The values of the agent's configuration must be strings.")
    parts = urlsplit(known["address"])
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InvalidAgentConfig("The agent's address must be an http or https address.")
    return AgentConfig(**known)


class StackAgent:
    """The agent of one instance; repeats each request until it is answered or time is up."""

    def __init__(self, config: AgentConfig) -> None:
        self.config = config
        self.instance_id = config.instance_id or self._read_own_instance_id()
        self.agent_id = config.agent_id or self.instance_id
        if not self.agent_id:
            raise InvalidAgentConfig(
                "The agent needs instance_id, because the instance metadata cannot be read."
            )
        self._token = ""
        self._configuration = b""  # the last one that was received
        self._notice_reported = False
        self._stopping = threading.Event()

    def boot(self) -> dict[str, Any] | None:
        """Register, read the configuration and start the container; return the configuration."""
        self.report("starting")
        self.report("installing")
        configuration = self.read_configuration()
        if configuration is not None:
            self.report_container("starting")
            self.report_container("running")
        return configuration

    def run(self) -> None:
        """Boot, then poll until `stop` is called."""
        self.boot()
        while not self._stopping.wait(self.config.poll_seconds):
            try:
                self.poll()
            except ServiceUnreachable:
                continue
        self.report_termination()

    def stop(self) -> None:
        """May be called from a signal handler."""
        self._stopping.set()

    def poll(self) -> None:
        """Apply a changed configuration, and report a termination notice once."""
        self.apply_new_configuration()
        if not self._notice_reported and (notice := self.read_notice()) is not None:
            self.report("spot_terminate", notice)
            self._notice_reported = True

    def apply_new_configuration(self) -> None:
        """Restart the container if the configuration has changed."""
        before = self._configuration
        if self.read_configuration() is not None and self._configuration != before:
            self.report_container("updating")
            self.report_container("running")

    def report_termination(self) -> None:
        if self._configuration or self.read_configuration() is not None:
            self.report_container("terminated")
        self.report("terminated")

    def report(self, status: str, message: str | None = None) -> None:
        extra = {"message": message[:1_000]} if message else {}
        self._send_report("agent_status", {"status": status, **extra})

    def report_container(self, status: str) -> None:
        """An instance has one container, whose id is that of the agent."""
        self._send_report("container_status", {"status": status, "container_id": self.agent_id})

    def read_configuration(self) -> dict[str, Any] | None:
        """None if the layer defines no container."""
        query = urlencode({"stack_id": self.config.stack_id, "flag": self.config.flag})
        self._configuration = self._request("GET", f"/v3/alm/agent/config?{query}")
        return json.loads(self._configuration) if self._configuration else None

    def read_notice(self) -> str | None:
        """The termination notice in the notice file or the instance metadata, if there is one."""
        file = self.config.notice_file
        if file is not None and file.exists():
            return file.read_text(errors="replace").strip() or "a termination notice"
        return self._read_metadata("/latest/meta-data/spot/instance-action")

    def _send_report(self, path: str, values: Mapping[str, str]) -> None:
        ids = {"stack_id": self.config.stack_id, "agent_id": self.agent_id}
        if self.instance_id:
            ids["instance_id"] = self.instance_id
        self._request("POST", f"/v3/alm/agent/{path}", {**ids, **values})

    def _request(self, method: str, path: str, body: Mapping[str, str] | None = None) -> bytes:
        """If the access token is refused, log in again and repeat the request once."""
        for token in (self._token, ""):
            self._token = token or self._log_in()
            status, content = self._send_with_retries(method, path, body, self._token)
            if status != 401:
                break
        if status in (401, 403, 404):
            raise TokenRefused(f"the service answered {status}")
        if status not in (200, 202):
            raise ServiceUnreachable(f"the service answered {status}")
        return content

    def _log_in(self) -> str:
        body = {
            "grant_type": "client_credentials",
            "client_id": self.config.stack_id,
            "client_secret": self.config.token,
        }
        status, content = self._send_with_retries("POST", "/v3/access_token", body, "")
        if status != 200:
            raise TokenRefused(f"the login was answered {status}")
        token: str = json.loads(content)["access_token"]
        return token

    def _send_with_retries(
        self, method: str, path: str, body: Mapping[str, str] | None, token: str
    ) -> tuple[int, bytes]:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        stopping = self._stopping.is_set()
        limit = SHUTDOWN_SECONDS if stopping else self.config.patience_seconds
        until = time.monotonic() + min(limit, self.config.patience_seconds)
        retries = 0
        while True:
            try:
                status, content = _send(
                    self.config.address + path, method, headers, body, self.config.timeout_seconds
                )
                if status not in RETRIED_STATUSES:
                    return status, content
                problem = f"the service answered {status}"
            except (OSError, HTTPException) as error:
                problem = f"the service cannot be reached ({type(error).__name__})"
            pause = RETRY_PAUSES[min(retries, len(RETRY_PAUSES) - 1)]
            retries += 1
            if time.monotonic() + pause > until:
                raise ServiceUnreachable(problem)
            time.sleep(pause) if stopping else self._stopping.wait(pause)
            stopping = self._stopping.is_set()

    def _read_own_instance_id(self) -> str:
        return self._read_metadata("/latest/meta-data/instance-id") or ""

    def _read_metadata(self, path: str) -> str | None:
        """Through IMDSv2, which requires a token; None if the service or the value is absent."""
        address = self.config.metadata_address
        if not address:
            return None
        try:
            lifetime = {"X-aws-ec2-metadata-token-ttl-seconds": "60"}
            _, token = _send(f"{address}/latest/api/token", "PUT", lifetime, None, METADATA_SECONDS)
            headers = {"X-aws-ec2-metadata-token": token.decode("ascii", "replace").strip()}
            status, content = _send(address + path, "GET", headers, None, METADATA_SECONDS)
        except (OSError, HTTPException, ValueError):
            return None
        return content.decode("utf-8", "replace") if status == 200 else None


def _send(
    url: str,
    method: str,
    headers: Mapping[str, str],
    body: Mapping[str, str] | None,
    timeout_seconds: float,
) -> tuple[int, bytes]:
    parts = urlsplit(url)
    connection_type = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    connection = connection_type(parts.hostname or "", parts.port, timeout=timeout_seconds)
    content = None if body is None else json.dumps(body).encode()
    content_type = {} if content is None else {"Content-Type": "application/json"}
    path = f"{parts.path}?{parts.query}" if parts.query else parts.path
    try:
        connection.request(method, path, content, {**headers, **content_type})
        response = connection.getresponse()
        return response.status, response.read(RESPONSE_BYTES_MAX)
    finally:
        connection.close()
