"""A service of prepared responses, and a clock that does not wait."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import parse_qsl

import httpx

from nimbill_client import Client, Clock

SECRET = "nb_cs_do_not_show"
PASSWORD = "do not show either"
URL = "https://billing.example.com"

Answer = httpx.Response | Exception | Callable[[httpx.Request], httpx.Response]


@dataclass
class PreparedService:
    """Answers with the given responses, one after the other, and issues numbered tokens."""

    answers: list[Answer] = field(default_factory=list)
    token_answers: list[Answer] = field(default_factory=list)
    requests: list[httpx.Request] = field(default_factory=list)
    token_forms: list[dict[str, str]] = field(default_factory=list)
    seconds: float = 0
    pauses: list[float] = field(default_factory=list)

    def client(self, **options: object) -> Client:
        clock = Clock(now=lambda: self.seconds, sleep=self.sleep)
        given = {"client_id": "cli-1", "client_secret": SECRET, **options}
        return Client(URL, transport=httpx.MockTransport(self.handle), clock=clock, **given)  # type: ignore[arg-type]

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.seconds += seconds

    def handle(self, request: httpx.Request) -> httpx.Response:
        request.read()
        if request.url.path.endswith("/access_token"):
            self.token_forms.append(dict(parse_qsl(request.content.decode())))
            if not self.token_answers:
                return self.issue_token()
            return self.give(self.token_answers.pop(0), request)
        self.requests.append(request)
        return self.give(self.answers.pop(0), request)

    def give(self, answer: Answer, request: httpx.Request) -> httpx.Response:
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, httpx.Response) else answer(request)

    def issue_token(self) -> httpx.Response:
        number = len(self.token_forms)
        token = {
            "access_token": f"token-{number}",
            "expires_in": 600,
            "refresh_token": f"refresh-{number}",
        }
        return httpx.Response(200, json=token)

    @property
    def used_tokens(self) -> list[str]:
        return [request.headers["Authorization"] for request in self.requests]


def problem(status: int, code: str, *rules: tuple[str, str], **headers: str) -> httpx.Response:
    body = {
        "type": "about:blank",
        "title": "A title",
        "status": status,
        "detail": "A detail.",
        "code": code,
        "instance": "urn:request:1",
        "violations": [{"field": name, "rule": rule} for name, rule in rules],
    }
    return httpx.Response(status, json=body, headers=headers)
