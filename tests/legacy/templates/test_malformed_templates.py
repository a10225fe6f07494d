"""Odd templates are refused with a reason and leave nothing, however they come."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote_plus

import httpx
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from nimbill.database.embedded_postgres import Address
from tests.contract.superuser import Superuser, connect_superuser
from tests.legacy.templates.template_requests import (
    PATH,
    TEMPLATE,
    apply_template,
    build_template,
    master_headers,
)
from tests.problem_responses import CANARY, read_problem
from tests.running_service import Service

SOUND = json.dumps(TEMPLATE)


def put_in(field: str, value: str) -> str:
    """The sound template with a field that holds this text, as it stands."""
    return SOUND.replace('"label": "shop"', f'"label": "shop", "{field}": {value}')


# texts of JSON, each with something that must not pass
ODD: dict[str, str] = {
    "nothing": "",
    "an empty object": "{}",
    "not a number": put_in("x", "NaN"),
    "infinity": put_in("x", "-Infinity"),
    "a huge whole number": put_in("x", "9" * 5_000),
    "a huge exponent": put_in("x", "1e999999"),
    "a huge count": SOUND.replace('"instance_count": 2', f'"instance_count": {"9" * 30}'),
    "a fraction of an instance": SOUND.replace('"instance_count": 2', '"instance_count": 1.5'),
    "half a surrogate pair": put_in("x", '"\\ud800"'),
    "half a pair as a key": put_in("\\udfff", "1"),
    "a NUL": put_in("x", '"\\u0000"'),
    "a NUL as a key": put_in("\\u0000", "1"),
    "deep lists": put_in("x", "[" * 40 + "]" * 40),
    "very deep lists": put_in("x", "[" * 50_000 + "]" * 50_000),
    "deep objects": put_in("x", '{"a":' * 40 + "1" + "}" * 40),
    "a key twice": put_in("version", '"2026-01-01"'),
    "a key twice inside": SOUND.replace('"keypair": true', '"keypair": true, "keypair": true'),
    "a text of a megabyte": put_in("x", '"' + "x" * 1_000_000 + '"'),
    "a text of 300 KB": put_in("x", '"' + "x" * 300_000 + '"'),
    "a label of 200 KB": SOUND.replace('"shop"', '"' + "x" * 200_000 + '"'),
    "a list of templates": f"[{SOUND}]",
    "two templates": SOUND + SOUND,
    "half a template": SOUND[: len(SOUND) // 2],
    "a comment": "// x\n" + SOUND,
    "a layer that is null": SOUND.replace('"configurations": [', '"configurations": [null, '),
    "a thousand layers": json.dumps(TEMPLATE | {"configurations": [{}] * 1_000}),
    "a flag with a newline": SOUND.replace('"flag": "web"', '"flag": "web\\n"'),
    "a date with a newline": SOUND.replace('"2026-11-15"', '"2026-11-15\\n"'),
    "a date in other digits": SOUND.replace('"2026-11-15"', '"２０２６-11-15"'),
    "a region with a path": SOUND.replace('"eu-west-1"', '"eu-west-1/../x"'),
    "a region of a host": SOUND.replace('"eu-west-1"', '"eu-west-1.evil.example#"'),
}

# ways to send a text of JSON: as it is, as a text, as YAML, in an object, as a form
WAYS: dict[str, tuple[str, Any]] = {
    "object": ("application/json", lambda text: text),
    "string": ("application/json", json.dumps),
    "YAML": ("application/yaml", lambda text: text),
    "in body": ("application/json", lambda text: json.dumps({"body": text})),
    "form": ("application/x-www-form-urlencoded", lambda text: "body=" + quote_plus(text)),
}


@pytest.fixture(scope="module")
def behind(running: Service, superuser: Address) -> Iterator[Superuser]:
    with connect_superuser(running, superuser) as found:
        yield found


def send(service: Service, way: str, text: str) -> httpx.Response:
    kind, written = WAYS[way]
    headers = {**master_headers(service), "Content-Type": kind}
    return service.http.post(PATH, content=written(text).encode(), headers=headers)


@pytest.mark.parametrize("odd", ODD)
def test_an_odd_template_is_refused_and_leaves_nothing(
    service: Service, behind: Superuser, odd: str
) -> None:
    before = behind.digest(service.organisation.organisation_id)

    for way in WAYS:
        began = time.perf_counter()
        answer = send(service, way, ODD[odd])

        assert answer.status_code in (400, 413), (way, answer.text)
        read_problem(answer, answer.status_code)
        assert time.perf_counter() - began < 5, way
    assert behind.digest(service.organisation.organisation_id) == before


def test_the_ways_lead_somewhere(service: Service) -> None:
    """Otherwise everything sent by them would be refused for another reason."""
    assert {way: send(service, way, SOUND).status_code for way in WAYS} == dict.fromkeys(WAYS, 201)


@pytest.mark.parametrize("way", WAYS)
def test_a_refusal_repeats_nothing_of_what_was_sent(service: Service, way: str) -> None:
    """problem_of looks for the canary in what is answered."""
    bad = build_template(
        version=CANARY,
        vendor={"aws": {"cred": [CANARY], "region": CANARY}},
        configurations=[
            {
                "role": [CANARY],
                "flag": f"{CANARY}!",
                "provision": {CANARY: CANARY},
                "container": {
                    "gitPrivateKey": [CANARY],
                    "environment_variables": {CANARY: 1},
                    CANARY: CANARY,
                },
                CANARY: CANARY,
            }
        ],
    )

    read_problem(send(service, way, json.dumps(bad)), 400)
    read_problem(send(service, way, json.dumps(bad) + CANARY), 400)
    read_problem(send(service, way, json.dumps(CANARY)), 400)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.just("***"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


@example("vendor", {"aws": {"cred": "c", "region": "eu-west-1", "x": {"cred": "***"}}})
@given(st.sampled_from(sorted(TEMPLATE)), json_values)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_value_of_a_field_is_answered_5xx(service: Service, field: str, value: Any) -> None:
    answer = service.http.post(
        PATH, json=TEMPLATE | {field: value}, headers=master_headers(service)
    )

    assert answer.status_code in (201, 400), answer.text


@given(st.text(alphabet="{}[]:,-&*!|>'\"%@`#?~ \n\tab1.", max_size=60))
@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_text_of_yaml_is_answered_5xx(service: Service, text: str) -> None:
    headers = {**master_headers(service), "Content-Type": "text/yaml"}

    answer = service.http.post(PATH, content=text.encode(), headers=headers)

    assert answer.status_code == 400, answer.text


@pytest.mark.parametrize("odd", ["not a number", "a key twice", "very deep lists", "a NUL"])
def test_odd_templates_are_not_compared_either(service: Service, odd: str) -> None:
    stack_id = apply_template(service)["stack_id"]
    body = {"id": [{stack_id: {"version": "latest"}}], "body": [ODD[odd]]}

    answer = service.http.post(f"{PATH}/compare", json=body, headers=master_headers(service))

    assert read_problem(answer, 400)["code"] == "malformed_body"


def test_many_differences_are_found_in_time(service: Service) -> None:
    """Both sides as large as they may be, and not one value the same."""
    stack_id = apply_template(service, more={f"k{n}": n for n in range(15_000)})["stack_id"]
    other = json.dumps(TEMPLATE | {"more": {f"k{n}": -n - 1 for n in range(15_000)}})
    body = {"id": [{stack_id: {"version": "latest"}}], "body": [other]}
    began = time.perf_counter()

    answer = service.http.post(f"{PATH}/compare", json=body, headers=master_headers(service))

    assert len(answer.json()["diff"]["edited"]) == 15_000
    assert time.perf_counter() - began < 5
