"""No text in a path, a query or a header is answered 5xx, on any route.

PostgreSQL stores neither NUL nor invalid UTF-8, and cannot index a long text. Each value is sent
in every parameter of every route, beside valid ones.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from urllib.parse import quote

import pytest

from nimbill.database.embedded_postgres import Address
from nimbill.http.downloads import CSV_TYPE
from nimbill.http.idempotency import HEADER as IDEMPOTENCY_KEY
from nimbill.http.versions import IF_MATCH
from tests.contract.declared_routes import Route, all_routes
from tests.contract.route_requests import RouteRequest, build_valid_request, root_headers
from tests.contract.superuser import connect_superuser
from tests.contract.tenants import Tenant, new_tenant
from tests.proof.asgi_calls import Headers, Request, as_headers, send_all
from tests.running_service import Service

LONG = 100_000
# percent-encoded; refused before the token is read
MALFORMED = {
    "NUL": b"a%00b",
    "a byte that begins no character": b"%ff",
    "half a surrogate pair": b"%ed%a0%80",
}
WELL_FORMED = {
    "a long text": b"x" * LONG,
    "a long text of another script": quote("あ").encode() * (LONG // 10),
    "a pattern with a percent-encoded NUL": quote("%00_\\'\"").encode(),
}
# a server passes on any byte except NUL and line ends
HEADER_VALUES = {
    "a byte that begins no character": b"\xff\xfe",
    "a long text": b"x" * LONG,
    "quotes": b'"\\\'"',
    "nothing": b"",
}
# read for many routes in one place
HEADERS = (
    *(IDEMPOTENCY_KEY, IF_MATCH, "Authorization", "Content-Type", "Content-Length"),
    *("Accept-Encoding", "Cookie", "Host", "Origin", "Sec-Fetch-Site"),
)
WITH_HEADERS = ("list_billing_groups", "update_account", "print_invoice")
ROUTES = all_routes()
PROTECTED = [route for route in ROUTES if not route.is_public]
PUBLIC = [route for route in ROUTES if route.is_public]


@dataclass(frozen=True)
class Parameter:
    location: str
    name: str


def list_parameters(route: Route) -> list[Parameter]:
    return [
        *(Parameter("path", name) for name in route.path_names),
        *(Parameter("query", name) for name in route.query_names),
    ]


@pytest.fixture(scope="module")
def tenant(running: Service, superuser: Address) -> Iterator[Tenant]:
    with connect_superuser(running, superuser) as db:
        yield new_tenant(running, db, "kanarie")


def build_valid(tenant: Tenant, route: Route) -> tuple[RouteRequest, Headers]:
    """A request that succeeds, and its headers; a public route needs no records and no token."""
    if route.is_public:
        return RouteRequest(dict.fromkeys(route.path_names, "anything")), []
    headers = as_headers(root_headers(tenant, route, route.products[0]))
    return build_valid_request(route, tenant), headers


def encode(
    route: Route,
    valid: RouteRequest,
    headers: Headers,
    parameter: Parameter | None = None,
    value: bytes = b"",
) -> Request:
    """The request with this value, which is already percent-encoded, in one parameter."""
    path = {name: quote(text, safe="") for name, text in valid.path.items()}
    query = {name: quote(text, safe="") for name, text in valid.query.items()}
    if parameter is not None:
        (path if parameter.location == "path" else query)[parameter.name] = value.decode()
    body, kind = b"", []
    if isinstance(valid.body, str):
        body, kind = valid.body.encode(), [(b"content-type", CSV_TYPE.encode())]
    elif valid.body is not None:
        body, kind = json.dumps(valid.body).encode(), [(b"content-type", b"application/json")]
    text = "&".join(f"{name}={each}" for name, each in query.items())
    return Request(
        route.method, route.fill_path(**path).encode(), text.encode(), [*headers, *kind], body
    )


def test_nul_and_invalid_utf8_are_refused_in_every_parameter_of_every_route(
    running: Service,
) -> None:
    cases = [
        (route, parameter, kind, value)
        for route in ROUTES
        for parameter in [*list_parameters(route), Parameter("query", "unknown")]
        for kind, value in MALFORMED.items()
    ]
    requests = [
        encode(route, RouteRequest(), [], parameter, value) for route, parameter, _, value in cases
    ]

    answers = send_all(running, requests)

    assert len(cases) > 3 * 2 * len(ROUTES)
    for (route, parameter, kind, _), answer in zip(cases, answers, strict=True):
        assert answer.status == 400, (str(route), parameter, kind)
        assert answer.json()["code"] == "malformed_address", (str(route), parameter, kind)


@pytest.mark.parametrize("route", [each for each in ROUTES if list_parameters(each)], ids=str)
def test_no_text_in_a_parameter_is_answered_5xx(tenant: Tenant, route: Route) -> None:
    """After a change, the next parameter needs new records."""
    requests, cases = [], []
    valid, headers = build_valid(tenant, route)
    for position, parameter in enumerate(list_parameters(route)):
        if position > 0 and route.is_mutating:
            valid, headers = build_valid(tenant, route)
        for kind, value in WELL_FORMED.items():
            cases.append((parameter, kind))
            requests.append(encode(route, valid, headers, parameter, value))

    answers = send_all(tenant.service, requests)

    for case, answer in zip(cases, answers, strict=True):
        assert answer.status < 500, (case, answer.body[:200])
        assert answer.status != 401, case


@pytest.mark.parametrize(
    "route",
    [*PUBLIC, *(route for route in PROTECTED if route.operation in WITH_HEADERS)],
    ids=str,
)
def test_no_header_is_answered_5xx(tenant: Tenant, route: Route) -> None:
    valid, own_headers = build_valid(tenant, route)
    plain = encode(route, valid, own_headers)
    cases = [(name, kind) for name in HEADERS for kind in HEADER_VALUES]
    requests = [with_header(plain, name, HEADER_VALUES[kind]) for name, kind in cases]

    answers = send_all(tenant.service, requests)

    for case, answer in zip(cases, answers, strict=True):
        assert answer.status < 500, (case, answer.body[:200])


def with_header(request: Request, name: str, value: bytes) -> Request:
    key = name.lower().encode()
    others = [pair for pair in request.headers if pair[0] != key]
    return replace(request, headers=[*others, (key, value)])


@pytest.mark.parametrize("path", ["/core/access_token", "/portal/access_token"])
@pytest.mark.parametrize(
    "credentials", [b"a\0b:c", b"a:b\0c", b"\xff:\xff", b"x" * LONG + b":x", b"%00:%00"]
)
def test_no_basic_credentials_are_answered_5xx(
    running: Service, path: str, credentials: bytes
) -> None:
    headers = [
        (b"authorization", b"Basic " + base64.b64encode(credentials)),
        (b"content-type", b"application/x-www-form-urlencoded"),
    ]
    request = Request("POST", path.encode(), headers=headers, body=b"grant_type=client_credentials")

    (answer,) = send_all(running, [request])

    assert 400 <= answer.status < 500, answer.body


@pytest.mark.parametrize("path", ["/core/access_token", "/portal/access_token"])
@pytest.mark.parametrize("name", ["client_id", "client_secret", "username", "password", "scope"])
def test_no_text_in_a_form_is_answered_5xx(running: Service, path: str, name: str) -> None:
    fields = {"grant_type": "password", "client_id": "a", "client_secret": "a", "username": "a"}
    values = [*MALFORMED.values(), *WELL_FORMED.values()]
    requests = []
    for value in values:
        form = {key.encode(): text.encode() for key, text in fields.items()} | {
            name.encode(): value
        }
        requests.append(
            Request(
                "POST",
                path.encode(),
                headers=[(b"content-type", b"application/x-www-form-urlencoded")],
                body=b"&".join(key + b"=" + text for key, text in form.items()),
            )
        )

    for value, answer in zip(values, send_all(running, requests), strict=True):
        assert 400 <= answer.status < 500, (value[:20], answer.body)


def test_the_free_texts_of_the_audit_log_are_parameters() -> None:
    """The document names the parameters; a change of its form must not empty the lists above."""
    (audit,) = [route for route in ROUTES if route.operation == "list_audit_entries"]
    expected = {"actor", "resource", "object_type", "object_id", "action", "company_id"}

    assert expected <= set(audit.query_names)
    assert set(WITH_HEADERS) <= {route.operation for route in PROTECTED}
