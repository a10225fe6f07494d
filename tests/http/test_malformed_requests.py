"""Malformed requests receive a 4xx that repeats nothing, and store nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from structlog.testing import capture_logs

from nimbill.access.gate import MUTATING, Audience, Public, iterate_routes
from nimbill.application.app import JSON_BYTES_MAX
from nimbill.customers.billing_groups.bodies import BillingGroupCreate
from tests.body_violations import find_body_violations
from tests.customers.billing_groups.sample_bodies import REQUIRED_FIELDS, VALID_SETTING
from tests.problem_responses import CANARY, HttpResponse, read_problem, read_violations
from tests.running_service import Service

GROUPS = "/m/core/billinggroup"


@dataclass
class Target:
    """One organisation for the whole file; every test must leave it empty."""

    service: Service
    headers: dict[str, str]

    def post(self, body: bytes, content_type: str | None = "application/json") -> HttpResponse:
        type_header = {} if content_type is None else {"Content-Type": content_type}
        return self.service.http.post(GROUPS, content=body, headers=self.headers | type_header)

    def count_stored(self) -> tuple[int, int]:
        groups = self.service.http.get(GROUPS, headers=self.headers).json()
        audit_rows = self.service.http.get("/m/core/audit", headers=self.headers).json()
        return len(groups), len(audit_rows)


@pytest.fixture(scope="module")
def target(running: Service) -> Iterator[Target]:
    target = Target(running, running.root(running.new_organisation("Target")))
    assert target.count_stored() == (0, 1)  # the audit row of the organisation itself
    yield target
    assert target.count_stored() == (0, 1), "a refused request was stored"


def with_field(name: str, raw_value: str) -> bytes:
    """Build a valid body except for one field with this JSON text as its value."""
    body = {key: value for key, value in REQUIRED_FIELDS.items() if key != name}
    return (json.dumps(body)[:-1] + f', "{name}": {raw_value}}}').encode()


def nested(levels: int) -> str:
    return "[" * levels + "]" * levels


DEEP = 100_000
MALFORMED = {
    "NaN": with_field("extra", "NaN"),
    "Infinity": with_field("extra", "Infinity"),
    "-Infinity": with_field("extra", "-Infinity"),
    "1e400": with_field("extra", "1e400"),
    "1e1000000": with_field("extra", "1e1000000"),
    "10**31": with_field("extra", str(10**31)),
    "a million digits": with_field("extra", "9" * 1_000_000),
    "half a surrogate pair": with_field("billinggroup_name", f'"{CANARY}\\ud800"'),
    "half a surrogate pair in a key": with_field("\\udfff", '"a"'),
    "NUL escaped": with_field("billinggroup_name", f'"{CANARY}\\u0000"'),
    "NUL escaped in a key": with_field(f"{CANARY}\\u0000", "1"),
    "NUL escaped in an unknown field": with_field("extra", f'[{{"{CANARY}": "\\u0000"}}]'),
    "NUL raw": with_field("billinggroup_name", f'"{CANARY}\0"'),
    "a key twice": with_field("extra", "1")[:-1] + b', "extra": 2}',
    "a required key twice": json.dumps(REQUIRED_FIELDS)[:-1].encode() + b', "inv_aggregate": true}',
    "a key twice below": with_field("extra", f'{{"a": [{{"{CANARY}": 1, "{CANARY}": 1}}]}}'),
    "depth 33": with_field("extra", nested(32)),
    "depth 100,000": with_field("extra", nested(DEEP)),
    "depth 100,000 without an end": with_field("extra", "[" * DEEP),
    "deep objects": with_field("extra", '{"a":' * DEEP + "1" + "}" * DEEP),
    "invalid UTF-8": with_field("billinggroup_name", f'"{CANARY}"').replace(b'7c1f"', b'\xff"'),
    "overlong UTF-8": with_field("billinggroup_name", '"?"').replace(b"?", b"\xc0\x80"),
    "UTF-16": json.dumps(REQUIRED_FIELDS).encode("utf-16"),
    "UTF-32": json.dumps(REQUIRED_FIELDS).encode("utf-32"),
    "BOM": b"\xef\xbb\xbf" + json.dumps(REQUIRED_FIELDS).encode(),
    "truncated": json.dumps(REQUIRED_FIELDS).encode()[:-1],
    "trailing characters": json.dumps(REQUIRED_FIELDS).encode() + b"x",
    "only whitespace": b"  \n ",
    "a form": b"billinggroup_id=a&billinggroup_name=b",
}


@pytest.mark.parametrize("case", MALFORMED)
def test_a_malformed_body_is_400(target: Target, case: str) -> None:
    response = target.post(MALFORMED[case])

    assert read_problem(response, 400)["code"] in ("malformed_body", "number_out_of_range")


@pytest.mark.parametrize("body", [b"null", b"[]", b'"text"', b"7", b"true", b"[{}]", b"0.5"])
def test_a_body_that_is_not_an_object_is_400(target: Target, body: bytes) -> None:
    assert read_violations(target.post(body)) == [("body", "an object")]


@pytest.mark.parametrize("content_type", ["application/json", "text/plain", None])
def test_an_empty_body_is_400(target: Target, content_type: str | None) -> None:
    assert read_violations(target.post(b"", content_type)) == [("body", "a JSON body is required")]


@pytest.mark.parametrize(
    "content_type",
    [
        *("text/plain", "text/json", "application/jsonx", "application/x-www-form-urlencoded"),
        *(
            "multipart/form-data; boundary=x",
            "application/vnd.api+json",
            "application",
            ";",
            "json",
        ),
        *("application/msgpack", "application/x-msgpack", f"text/{CANARY}", "", None),
    ],
)
def test_another_content_type_is_415(target: Target, content_type: str | None) -> None:
    response = target.post(json.dumps(REQUIRED_FIELDS).encode(), content_type)

    assert read_problem(response, 415)["code"] == "media_type"


@pytest.mark.parametrize(
    "content_type",
    [
        "application/json",
        "application/json;",
        "application/json; charset=utf-8",
        "application/json ; charset=utf-8",
        "Application/JSON",
    ],
)
def test_parameters_of_the_content_type_are_accepted(service: Service, content_type: str) -> None:
    response = Target(service, service.root()).post(
        json.dumps(REQUIRED_FIELDS).encode(), content_type
    )

    assert response.status_code == 200


def test_a_body_of_one_byte_more_than_a_mebibyte_is_413(target: Target) -> None:
    valid = json.dumps(REQUIRED_FIELDS).encode()
    body = valid + b" " * (JSON_BYTES_MAX + 1 - len(valid))

    assert read_problem(target.post(body), 413)["code"] == "body_too_large"


ANY_TEXT = ["7", "true", "[]", "{}", "0.5"]
WRONG_TYPES = {
    **dict.fromkeys(("billinggroup_id", "billinggroup_name", "company_name"), ANY_TEXT),
    **dict.fromkeys(("phone", "postal", "address", "billing_title"), ANY_TEXT),
    **dict.fromkeys(("personal", "remarks", "project_id", "invoice_template_id"), ANY_TEXT),
    "inv_aggregate": ["1", "0", '"true"', "[]", "{}", "1.0"],
    "invoices": ["7", "true", "[]", '"aws"', "0.5"],
    "language": [*ANY_TEXT, '"fr"', '"JA"', '""'],
}


@pytest.mark.parametrize("field", WRONG_TYPES)
def test_a_value_of_another_type_is_reported_for_its_field(field: str) -> None:
    for value in WRONG_TYPES[field]:
        sent = json.loads(with_field(field, value))

        ((reported_field, _),) = find_body_violations(BillingGroupCreate, sent)

        assert reported_field == field, value


@pytest.mark.parametrize("field", VALID_SETTING)
def test_a_setting_of_another_type_is_reported_for_its_field(field: str) -> None:
    is_number = isinstance(VALID_SETTING[field], int | float)
    wrong_values: list[Any] = [True, [], {}, None, "0.05" if is_number else 7]
    for value in wrong_values:
        sent = REQUIRED_FIELDS | {"invoices": {"aws": VALID_SETTING | {field: value}}}

        violations = find_body_violations(BillingGroupCreate, sent)

        assert [path for path, _ in violations] == [f"invoices.aws.{field}"], value


def test_every_violation_is_reported_at_once(target: Target) -> None:
    """A missing field, a wrong type, an unknown vendor, a missing setting, invalid settings."""
    aws = {k: v for k, v in VALID_SETTING.items() if k != "currency"} | {
        "tax_rate": "0.10",
        "calc_type": CANARY,
        "discount_rate": 1.01,
    }
    azure = VALID_SETTING | {"support_rate": -1}
    body = {
        "billinggroup_id": "",
        "billinggroup_name": 7,
        "inv_aggregate": True,
        "invoices": {"aws": aws, CANARY: {}, "azure": azure},
        "language": CANARY,
    }

    assert read_violations(target.post(json.dumps(body).encode())) == [
        ("billinggroup_id", "a text that is not empty"),
        ("billinggroup_name", "a text that is not empty"),
        ("company_name", "required"),
        ("invoices.aws.currency", "required"),
        ("invoices.aws.tax_rate", "a number"),
        ("invoices", "keys: one of aws, azure"),
        ("language", "one of ja, en"),
        ("invoices.aws.calc_type", "one of account, tag"),
        ("invoices.aws.discount_rate", "from 0 to 1"),
        ("invoices.azure.support_rate", "from 0 to 1"),
    ]


def test_nothing_that_was_sent_is_repeated_or_logged(target: Target) -> None:
    body = {CANARY: CANARY, "phone": [CANARY], "language": CANARY, "invoices": {CANARY: CANARY}}
    headers = target.headers | {"User-Agent": CANARY, "X-Anything": CANARY, "Cookie": f"a={CANARY}"}

    with capture_logs() as lines:
        responses = [
            target.service.http.post(f"{GROUPS}?{CANARY}={CANARY}", json=body, headers=headers),
            target.service.http.post(GROUPS, json=body, headers={"Authorization": CANARY}),
            target.service.http.get(f"{GROUPS}/{CANARY}/resource", headers=headers),
            target.service.http.get(f"/m/core/audit?before={CANARY}", headers=headers),
            target.service.http.get(f"/m/core/audit?from={CANARY}", headers=headers),
            target.service.http.get(f"/{CANARY}/{CANARY}", headers=headers),
            target.service.http.get(f"/docs/{CANARY}", headers=headers),
            target.service.http.put(f"{GROUPS}/{CANARY}", headers=headers),
            target.service.http.post(
                "/core/access_token", data={"grant_type": CANARY, "client_id": CANARY, CANARY: "1"}
            ),
        ]

    assert [response.status_code for response in responses] == [
        *(400, 401, 404, 400, 400, 404, 404, 405, 400),
    ]
    for response in responses:
        assert CANARY not in response.text + repr(response.headers)
    assert CANARY not in repr(lines)
    assert CANARY not in target.service.read_metrics()


def list_routes_with_a_body(service: Service) -> list[tuple[str, str]]:
    """List method and path of every core route that takes a JSON body."""
    routes: list[tuple[str, str]] = []
    for path, handler in iterate_routes(service.app):
        has_body = "data" in handler.parsed_fn_signature.parameters
        if has_body and not isinstance(handler.opt["audiences"], Public):
            assert handler.http_methods <= MUTATING
            if Audience.core in handler.opt["audiences"]:
                routes.append((next(iter(handler.http_methods)), re.sub("{[^}]+}", "some", path)))
    return routes


# One case for each reason to refuse; the routes share the decoder that is tested with all cases.
@pytest.mark.parametrize(
    "case",
    [
        *("NaN", "1e400", "half a surrogate pair", "NUL escaped in an unknown field"),
        *("a key twice", "depth 100,000", "invalid UTF-8", "UTF-16", "truncated", "a form"),
    ],
)
def test_every_route_refuses_a_malformed_body(target: Target, case: str) -> None:
    routes = list_routes_with_a_body(target.service)
    headers = target.headers | {"Content-Type": "application/json"}
    assert routes

    for method, path in routes:
        response = target.service.http.request(
            method, path, content=MALFORMED[case], headers=headers
        )
        assert 400 <= response.status_code < 500, path
        read_problem(response, response.status_code)


@pytest.mark.parametrize("body", [b"null", b"[]", b'"a"', b"7", b"{}", b'{"a":1}', b""])
def test_no_route_fails_on_json_of_another_shape(service: Service, body: bytes) -> None:
    headers = service.root() | {"Content-Type": "application/json"}
    for method, path in list_routes_with_a_body(service):
        response = service.http.request(method, path, content=body, headers=headers)
        assert response.status_code < 500, path
