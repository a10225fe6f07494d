"""Hostile requests get a 4xx that repeats nothing, and leave nothing behind."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from structlog.testing import capture_logs

from nimbill.access.gate import MUTATING, Audience, Public, own_routes
from nimbill.application.app import JSON_BYTES_MAX
from tests.answers import CANARY, Answer, problem_of, violations_of
from tests.customers.billing_groups.sample_bodies import REQUIRED_FIELDS, VALID_SETTING
from tests.running_service import Service

GROUPS = "/m/core/billinggroup"


@dataclass
class Target:
    """One organisation for the whole file; every test leaves it as empty as it was."""

    service: Service
    headers: dict[str, str]

    def post(self, body: bytes, content_type: str | None = "application/json") -> Answer:
        kind = {} if content_type is None else {"Content-Type": content_type}
        return self.service.http.post(GROUPS, content=body, headers=self.headers | kind)

    def stored(self) -> tuple[int, int]:
        groups = self.service.http.get(GROUPS, headers=self.headers).json()
        rows = self.service.http.get("/m/core/audit", headers=self.headers).json()
        return len(groups), len(rows)


@pytest.fixture(scope="module")
def shared_target(running: Service) -> Target:
    return Target(running, running.root(running.new_organisation("Target")))


@pytest.fixture
def target(shared_target: Target) -> Iterator[Target]:
    before = shared_target.stored()
    yield shared_target
    assert shared_target.stored() == before == (0, 1), "something was stored"


def with_field(name: str, raw_value: str) -> bytes:
    """A sound body but for one field, whose value is given as it stands in the text."""
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
    "NUL escaped in what is ignored": with_field("extra", f'[{{"{CANARY}": "\\u0000"}}]'),
    "NUL raw": with_field("billinggroup_name", f'"{CANARY}\0"'),
    "a key twice": with_field("extra", "1")[:-1] + b', "extra": 2}',
    "a required key twice": json.dumps(REQUIRED_FIELDS)[:-1].encode() + b', "inv_aggregate": true}',
    "a key twice below": with_field("extra", f'{{"a": [{{"{CANARY}": 1, "{CANARY}": 1}}]}}'),
    "depth 33": with_field("extra", nested(32)),
    "depth 100,000": with_field("extra", nested(DEEP)),
    "depth 100,000 and no more": with_field("extra", "[" * DEEP),
    "deep objects": with_field("extra", '{"a":' * DEEP + "1" + "}" * DEEP),
    "invalid UTF-8": with_field("billinggroup_name", f'"{CANARY}"').replace(b'7c1f"', b'\xff"'),
    "overlong UTF-8": with_field("billinggroup_name", '"?"').replace(b"?", b"\xc0\x80"),
    "UTF-16": json.dumps(REQUIRED_FIELDS).encode("utf-16"),
    "UTF-32": json.dumps(REQUIRED_FIELDS).encode("utf-32"),
    "BOM": b"\xef\xbb\xbf" + json.dumps(REQUIRED_FIELDS).encode(),
    "cut off": json.dumps(REQUIRED_FIELDS).encode()[:-1],
    "something after it": json.dumps(REQUIRED_FIELDS).encode() + b"x",
    "nothing but space": b"  \n ",
    "a form": b"billinggroup_id=a&billinggroup_name=b",
}


@pytest.mark.parametrize("kind", MALFORMED)
def test_a_malformed_body_is_400(target: Target, kind: str) -> None:
    answer = target.post(MALFORMED[kind])

    assert problem_of(answer, 400)["code"] in ("malformed_body", "number_out_of_range")


@pytest.mark.parametrize("body", [b"null", b"[]", b'"text"', b"7", b"true", b"[{}]", b"0.5"])
def test_a_body_that_is_no_object_is_400(target: Target, body: bytes) -> None:
    assert violations_of(target.post(body)) == [("body", "an object")]


@pytest.mark.parametrize("content_type", ["application/json", "text/plain", None])
def test_an_empty_body_is_400(target: Target, content_type: str | None) -> None:
    assert violations_of(target.post(b"", content_type)) == [("body", "a JSON body is required")]


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
def test_a_body_that_is_not_declared_json_is_415(target: Target, content_type: str | None) -> None:
    answer = target.post(json.dumps(REQUIRED_FIELDS).encode(), content_type)

    assert problem_of(answer, 415)["code"] == "media_type"


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
def test_a_parameter_after_the_content_type_is_fine(service: Service, content_type: str) -> None:
    answer = Target(service, service.root()).post(
        json.dumps(REQUIRED_FIELDS).encode(), content_type
    )

    assert answer.status_code == 200


def test_one_byte_more_than_a_mebibyte_is_413(target: Target) -> None:
    sound = json.dumps(REQUIRED_FIELDS).encode()
    body = sound + b" " * (JSON_BYTES_MAX + 1 - len(sound))

    assert problem_of(target.post(body), 413)["code"] == "body_too_large"


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
def test_a_value_of_another_type_is_named_by_its_field(target: Target, field: str) -> None:
    for value in WRONG_TYPES[field]:
        ((named, _),) = violations_of(target.post(with_field(field, value)))
        assert named == field, value


@pytest.mark.parametrize("field", VALID_SETTING)
def test_a_setting_of_another_type_is_named_by_its_field(target: Target, field: str) -> None:
    of_number = isinstance(VALID_SETTING[field], int | float)
    for value in ("true", "[]", "{}", "null", '"0.05"' if of_number else "7"):
        rest = {key: sound for key, sound in VALID_SETTING.items() if key != field}
        setting = json.dumps(rest)[:-1] + f', "{field}": {value}}}'

        named = violations_of(target.post(with_field("invoices", f'{{"aws": {setting}}}')))

        assert [place for place, _ in named] == [f"invoices.aws.{field}"], value


def test_every_violation_is_named_at_once(target: Target) -> None:
    """A missing field, a wrong type, an unknown vendor, a missing setting, broken table rows."""
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

    assert violations_of(target.post(json.dumps(body).encode())) == [
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


def test_nothing_that_was_sent_comes_back_or_is_logged(target: Target) -> None:
    body = {CANARY: CANARY, "phone": [CANARY], "language": CANARY, "invoices": {CANARY: CANARY}}
    headers = target.headers | {"User-Agent": CANARY, "X-Anything": CANARY, "Cookie": f"a={CANARY}"}

    with capture_logs() as lines:
        answers = [
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

    assert [answer.status_code for answer in answers] == [
        *(400, 401, 404, 400, 400, 404, 404, 405, 400),
    ]
    for answer in answers:
        assert CANARY not in answer.text + repr(answer.headers)
    assert CANARY not in repr(lines)
    assert CANARY not in target.service.http.get("/metrics").text


def routes_with_a_body(service: Service) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Method, path and headers of every route of ours that takes a JSON body."""
    headers = service.root()
    for path, handler in own_routes(service.app):
        takes_one = "data" in handler.parsed_fn_signature.parameters
        if takes_one and not isinstance(handler.opt["audiences"], Public):
            assert handler.http_methods <= MUTATING
            if Audience.core in handler.opt["audiences"]:
                yield next(iter(handler.http_methods)), re.sub("{[^}]+}", "some", path), headers


@pytest.mark.parametrize("kind", MALFORMED)
def test_no_route_takes_a_malformed_body(service: Service, kind: str) -> None:
    """Also the routes of rooms that are built later: they are found, not listed."""
    met = 0
    for method, path, headers in routes_with_a_body(service):
        sent = headers | {"Content-Type": "application/json"}
        answer = service.http.request(method, path, content=MALFORMED[kind], headers=sent)
        assert 400 <= answer.status_code < 500, path
        problem_of(answer, answer.status_code)
        met += 1
    assert met


@pytest.mark.parametrize("body", [b"null", b"[]", b'"a"', b"7", b"{}", b'{"a":1}', b""])
def test_no_route_is_surprised_by_a_sound_json_of_another_shape(
    service: Service, body: bytes
) -> None:
    for method, path, headers in routes_with_a_body(service):
        sent: dict[str, Any] = headers | {"Content-Type": "application/json"}
        answer = service.http.request(method, path, content=body, headers=sent)
        assert answer.status_code < 500, path
