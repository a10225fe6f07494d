"""Authorised GET and validated POST, compared with bare handlers and a FastAPI application."""

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

from bench.alternatives import bare_litestar, fastapi_app
from bench.example_groups import (
    BARE_COPY,
    FASTAPI_COPY,
    GROUP,
    ExampleGroups,
    create_example_groups,
    replace_database,
)
from bench.load import LoadPlan
from bench.processes import BenchServer, LoadGenerator, start_load_generator, start_server
from bench.rounds import Contender, Suite
from nimbill.database.embedded_postgres import embedded_postgres
from nimbill.foundation.encryption import load_or_create_key
from nimbill.identity.organisations.operations import NewOrganisation

OURS = "nimbill"
BARE = "bare Litestar"
FASTAPI = "FastAPI"

DESCRIPTIONS = {
    OURS: "`nimbill serve --workers 1`, complete but without rate limit",
    BARE: "the same SQL in bare handlers on the same server: no token, rules, audit or log",
    FASTAPI: "FastAPI, pydantic, SQLAlchemy ORM, PyJWT, uvicorn: token and rules, no audit or log",
}

CONNECTIONS = 8
WARMUP_SECONDS = 0.1

LIST = "GET, a list of 20"
DETAILS = "GET, one in detail"
POST = "POST, validated, eight organisations"
POST_IN_ONE = "POST, validated, all in one organisation"


@dataclass(frozen=True, slots=True)
class RequestCase:
    """The connections are distributed over the organisations."""

    method: str
    path: str
    organisations: Sequence[NewOrganisation]
    body: str = ""


BuildHeaders = Callable[[NewOrganisation], Mapping[str, str]]


@contextmanager
def contenders() -> Iterator[Sequence[Contender]]:
    """Three servers with one worker each on one PostgreSQL, and one load generator."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="nimbill-bench-")))
        url = stack.enter_context(embedded_postgres(folder / "postgres")).url
        encryptor = load_or_create_key(folder / "key")
        example = create_example_groups(url, encryptor, folder / "postgres")
        load = stack.enter_context(start_load_generator())
        cases = build_cases(example)
        servers = {
            name: stack.enter_context(start(folder, url))
            for name, start in ((OURS, start_nimbill), (BARE, start_bare), (FASTAPI, start_fastapi))
        }
        refuse_different_responses(cases, servers)
        yield [build_contender(load, cases, name, *servers[name]) for name in servers]


def build_cases(example: ExampleGroups) -> dict[str, RequestCase]:
    path = "/m/core/billinggroup"
    body = json.dumps(GROUP, ensure_ascii=False)
    return {
        LIST: RequestCase("GET", path, [example.reader]),
        DETAILS: RequestCase("GET", f"{path}/{example.company_id}/resource", [example.reader]),
        POST: RequestCase("POST", path, example.writers, body),
        POST_IN_ONE: RequestCase("POST", path, example.writers[:1], body),
    }


SUITE = Suite(
    name="serving",
    description="billing groups over HTTP: authorised GET, validated POST",
    unit="requests/s",
    cases=(LIST, DETAILS, POST, POST_IN_ONE),
    baseline=OURS,
    roles={BARE: "floor", FASTAPI: "instead"},
    targets={BARE: 0.6, FASTAPI: 1.5},
    slice_seconds=0.7,
    contenders=contenders,
    summary_case=LIST,
)


def build_contender(
    load: LoadGenerator,
    cases: Mapping[str, RequestCase],
    name: str,
    server: BenchServer,
    build_headers: BuildHeaders,
) -> Contender:
    def measure(case: str, seconds: float) -> float:
        request = cases[case]
        plan = LoadPlan(
            port=server.port,
            method=request.method,
            path=request.path,
            headers=[
                dict(build_headers(organisation))
                for organisation in islice(cycle(request.organisations), CONNECTIONS)
            ],
            body=request.body,
            seconds=seconds,
            warmup_seconds=WARMUP_SECONDS,
        )
        return load.run(plan).rate

    return Contender(name, DESCRIPTIONS[name], measure)


def refuse_different_responses(
    cases: Mapping[str, RequestCase], servers: Mapping[str, tuple[BenchServer, BuildHeaders]]
) -> None:
    """All contenders must return the same; a decimal may be a JSON number or a string."""
    for name, case in cases.items():
        if case.method == "GET":
            responses = [
                _fetch(server.port, case, build_headers)
                for server, build_headers in servers.values()
            ]
            assert responses[0], f"{name}: the response is empty"
            assert all(body == responses[0] for body in responses), f"{name}: responses differ"


def _fetch(port: int, case: RequestCase, build_headers: BuildHeaders) -> Any:
    address = f"http://127.0.0.1:{port}{case.path}"
    headers = dict(build_headers(case.organisations[0]))
    with urlopen(Request(address, headers=headers)) as response:
        return _parse_decimals(json.load(response, parse_float=Decimal))


def _parse_decimals(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _parse_decimals(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_parse_decimals(item) for item in value]
    if isinstance(value, str) and value.replace(".", "", 1).isdigit():
        return Decimal(value)
    return value


# ── servers, each with the headers of its requests ───────────────────────────────────────────────


@contextmanager
def start_nimbill(folder: Path, url: str) -> Iterator[tuple[BenchServer, BuildHeaders]]:
    settings = {
        "NIMBILL_DATA": str(folder),
        "NIMBILL_DATABASE_URL": url,
        "NIMBILL_KEY_FILE": str(folder / "key"),
        "NIMBILL_RATE_LIMIT": "0",
    }
    command = ["-m", "nimbill", "serve", "--workers", "1"]
    tokens: dict[str, str] = {}
    with start_server(command, settings, folder / "nimbill.log") as server:

        def build_headers(organisation: NewOrganisation) -> Mapping[str, str]:
            if organisation.client_id not in tokens:
                tokens[organisation.client_id] = _request_token(server.port, organisation)
            return {"Authorization": f"Bearer {tokens[organisation.client_id]}"}

        yield server, build_headers


def _request_token(port: int, organisation: NewOrganisation) -> str:
    form = {
        "grant_type": "client_credentials",
        "client_id": organisation.client_id,
        "client_secret": organisation.client_secret,
        "scope": "openid",
    }
    address = f"http://127.0.0.1:{port}/core/access_token"
    with urlopen(Request(address, data=urlencode(form).encode())) as response:
        token: str = json.load(response)["access_token"]
        return token


@contextmanager
def start_bare(folder: Path, url: str) -> Iterator[tuple[BenchServer, BuildHeaders]]:
    settings = {bare_litestar.DATABASE_URL: replace_database(url, BARE_COPY)}
    command = ["-m", bare_litestar.__name__]
    with start_server(command, settings, folder / "bare.log") as server:
        yield server, lambda organisation: {"X-Organisation": organisation.organisation_id}


@contextmanager
def start_fastapi(folder: Path, url: str) -> Iterator[tuple[BenchServer, BuildHeaders]]:
    key = ec.generate_private_key(ec.SECP256R1())
    public = key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    settings = {
        fastapi_app.DATABASE_URL: replace_database(url, FASTAPI_COPY),
        fastapi_app.PUBLIC_KEY: public.decode(),
    }

    def build_headers(organisation: NewOrganisation) -> Mapping[str, str]:
        claims = {
            "iss": fastapi_app.ISSUER,
            "aud": fastapi_app.AUDIENCE,
            "sub": organisation.root_user_id,
            "tid": organisation.organisation_id,
            "exp": int(time.time()) + 3600,
        }
        return {"Authorization": f"Bearer {jwt.encode(claims, key, algorithm='ES256')}"}

    command = ["-m", fastapi_app.__name__]
    with start_server(command, settings, folder / "fastapi.log") as server:
        yield server, build_headers
