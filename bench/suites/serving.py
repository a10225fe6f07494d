"""Authorised GET and validated POST, beside a bare handler and beside the usual way."""

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from decimal import Decimal
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from bench.example_groups import (
    BARE_COPY,
    GROUP,
    USUAL_COPY,
    Example,
    database_at,
    make_example,
)
from bench.load import Plan
from bench.others import bare_litestar, usual_fastapi
from bench.processes import Load, Server, load_process, server
from bench.rounds import Contender, Suite
from nimbill.database.embedded_postgres import embedded_postgres
from nimbill.foundation.encryption import load_or_create_key
from nimbill.identity.organisations.operations import NewOrganisation

OURS = "nimbill"
BARE = "bare Litestar"
USUAL = "FastAPI"

WHAT = {
    OURS: "the service itself, `nimbill serve --workers 1`, everything on but the rate limit",
    BARE: "the same SQL in bare handlers on the same server: no token, no rules, no audit, no log",
    USUAL: "FastAPI, pydantic, SQLAlchemy ORM, PyJWT and uvicorn: token, rules, no audit, no log",
}

CONNECTIONS = 8
WARM_SECONDS = 0.1

LIST = "GET, a list of 20"
DETAILS = "GET, one in detail"
POST = "POST, validated, eight organisations"
POST_IN_ONE = "POST, validated, all in one organisation"


@dataclass(frozen=True, slots=True)
class Asked:
    """Connections take turns in speaking for the organisations."""

    method: str
    path: str
    organisations: Sequence[NewOrganisation]
    body: str = ""


Headers = Callable[[NewOrganisation], Mapping[str, str]]


@contextmanager
def contenders() -> Iterator[Sequence[Contender]]:
    """Three servers of one worker each on one PostgreSQL, and one load process for them all."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="nimbill-bench-")))
        url = stack.enter_context(embedded_postgres(folder / "postgres")).url
        sealer = load_or_create_key(folder / "key")
        example = make_example(url, sealer, folder / "postgres")
        load = stack.enter_context(load_process())
        asked = cases(example)
        running = {
            name: stack.enter_context(start(folder, url))
            for name, start in ((OURS, ours), (BARE, bare), (USUAL, usual))
        }
        refuse_unequal_answers(asked, running)
        yield [contender(load, asked, name, *running[name]) for name in running]


def cases(example: Example) -> dict[str, Asked]:
    path = "/m/core/billinggroup"
    body = json.dumps(GROUP, ensure_ascii=False)
    return {
        LIST: Asked("GET", path, [example.reading]),
        DETAILS: Asked("GET", f"{path}/{example.company_id}/resource", [example.reading]),
        POST: Asked("POST", path, example.writing, body),
        POST_IN_ONE: Asked("POST", path, example.writing[:1], body),
    }


SUITE = Suite(
    name="serving",
    what="billing groups over HTTP: authorised GET, validated POST",
    unit="requests/s",
    cases=(LIST, DETAILS, POST, POST_IN_ONE),
    ours=OURS,
    aims={BARE: 0.6, USUAL: 1.5},
    slice_seconds=0.7,
    contenders=contenders,
)


def contender(
    load: Load, asked: Mapping[str, Asked], name: str, to: Server, headers: Headers
) -> Contender:
    def measure(case: str, seconds: float) -> float:
        one = asked[case]
        plan = Plan(
            port=to.port,
            method=one.method,
            path=one.path,
            headers=[
                dict(headers(organisation))
                for organisation in islice(cycle(one.organisations), CONNECTIONS)
            ],
            body=one.body,
            seconds=seconds,
            warm_seconds=WARM_SECONDS,
        )
        return load.put_on(plan).rate

    return Contender(name, WHAT[name], measure)


def refuse_unequal_answers(
    asked: Mapping[str, Asked], running: Mapping[str, tuple[Server, Headers]]
) -> None:
    """Who answers something else is not compared with; a decimal may leave as number or text."""
    for case, one in asked.items():
        if one.method == "GET":
            answers = [_answer(to.port, one, headers) for to, headers in running.values()]
            assert answers[0], f"{case}: nothing was answered"
            assert all(answer == answers[0] for answer in answers), f"{case}: answers differ"


def _answer(port: int, asked: Asked, headers: Headers) -> Any:
    address = f"http://127.0.0.1:{port}{asked.path}"
    with urlopen(Request(address, headers=dict(headers(asked.organisations[0])))) as answer:
        return _with_decimals(json.load(answer, parse_float=Decimal))


def _with_decimals(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _with_decimals(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_with_decimals(item) for item in value]
    if isinstance(value, str) and value.replace(".", "", 1).isdigit():
        return Decimal(value)
    return value


# ── the three, each with the headers its requests carry ──────────────────────────────────────────


@contextmanager
def ours(folder: Path, url: str) -> Iterator[tuple[Server, Headers]]:
    settings = {
        "NIMBILL_DATA": str(folder),
        "NIMBILL_DATABASE_URL": url,
        "NIMBILL_KEY_FILE": str(folder / "key"),
        "NIMBILL_RATE_LIMIT": "0",
    }
    command = ["-m", "nimbill", "serve", "--workers", "1"]
    tokens: dict[str, str] = {}
    with server(command, settings, folder / "nimbill.log") as running:

        def headers(organisation: NewOrganisation) -> Mapping[str, str]:
            if organisation.client_id not in tokens:
                tokens[organisation.client_id] = _token_of_ours(running.port, organisation)
            return {"Authorization": f"Bearer {tokens[organisation.client_id]}"}

        yield running, headers


def _token_of_ours(port: int, organisation: NewOrganisation) -> str:
    form = {
        "grant_type": "client_credentials",
        "client_id": organisation.client_id,
        "client_secret": organisation.client_secret,
        "scope": "openid",
    }
    address = f"http://127.0.0.1:{port}/core/access_token"
    with urlopen(Request(address, data=urlencode(form).encode())) as answer:
        token: str = json.load(answer)["access_token"]
        return token


@contextmanager
def bare(folder: Path, url: str) -> Iterator[tuple[Server, Headers]]:
    settings = {bare_litestar.DATABASE_URL: database_at(url, BARE_COPY)}
    command = ["-m", bare_litestar.__name__]
    with server(command, settings, folder / "bare.log") as running:
        yield running, lambda organisation: {"X-Organisation": organisation.organisation_id}


@contextmanager
def usual(folder: Path, url: str) -> Iterator[tuple[Server, Headers]]:
    key = ec.generate_private_key(ec.SECP256R1())
    public = key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    settings = {
        usual_fastapi.DATABASE_URL: database_at(url, USUAL_COPY),
        usual_fastapi.PUBLIC_KEY: public.decode(),
    }

    def headers(organisation: NewOrganisation) -> Mapping[str, str]:
        claims = {
            "iss": usual_fastapi.ISSUER,
            "aud": usual_fastapi.AUDIENCE,
            "sub": organisation.root_user_id,
            "tid": organisation.organisation_id,
            "exp": int(time.time()) + 3600,
        }
        return {"Authorization": f"Bearer {jwt.encode(claims, key, algorithm='ES256')}"}

    command = ["-m", usual_fastapi.__name__]
    with server(command, settings, folder / "usual.log") as running:
        yield running, headers
