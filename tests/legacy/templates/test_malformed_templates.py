"""Malformed templates are refused in every form and store nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import cycle
from typing import Any
from urllib.parse import quote_plus

import httpx
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from nimbill.database.embedded_postgres import Address
from nimbill.foundation.errors import ServiceError, refuse_if
from nimbill.legacy.templates.secrets import find_unresolved_masks
from nimbill.legacy.templates.template_parser import parse_template_request
from nimbill.legacy.templates.template_rules import find_template_violations
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

VALID = json.dumps(TEMPLATE)


def with_field(field: str, value: str) -> str:
    """The valid template with an additional field; `value` is JSON text."""
    return VALID.replace('"label": "shop"', f'"label": "shop", "{field}": {value}')


# JSON texts, each of which must be refused
MALFORMED: dict[str, str] = {
    "nothing": "",
    "an empty object": "{}",
    "not a number": with_field("x", "NaN"),
    "infinity": with_field("x", "-Infinity"),
    "a huge whole number": with_field("x", "9" * 5_000),
    "a huge exponent": with_field("x", "1e999999"),
    "a huge count": VALID.replace('"instance_count": 2', f'"instance_count": {"9" * 30}'),
    "a fraction of an instance": VALID.replace('"instance_count": 2', '"instance_count": 1.5'),
    "half a surrogate pair": with_field("x", '"\\ud800"'),
    "half a pair as a key": with_field("\\udfff", "1"),
    "a NUL": with_field("x", '"\\u0000"'),
    "a NUL as a key": with_field("\\u0000", "1"),
    "deep lists": with_field("x", "[" * 40 + "]" * 40),
    "very deep lists": with_field("x", "[" * 50_000 + "]" * 50_000),
    "deep objects": with_field("x", '{"a":' * 40 + "1" + "}" * 40),
    "a key twice": with_field("version", '"2026-01-01"'),
    "a key twice inside": VALID.replace('"keypair": true', '"keypair": true, "keypair": true'),
    "a string of a megabyte": with_field("x", '"' + "x" * 1_000_000 + '"'),
    "a string of 300 KB": with_field("x", '"' + "x" * 300_000 + '"'),
    "a label of 200 KB": VALID.replace('"shop"', '"' + "x" * 200_000 + '"'),
    "a list of templates": f"[{VALID}]",
    "two templates": VALID + VALID,
    "half a template": VALID[: len(VALID) // 2],
    "a comment": "// x\n" + VALID,
    "a layer that is null": VALID.replace('"configurations": [', '"configurations": [null, '),
    "a thousand layers": json.dumps(TEMPLATE | {"configurations": [{}] * 1_000}),
    "a flag with a newline": VALID.replace('"flag": "web"', '"flag": "web\\n"'),
    "a date with a newline": VALID.replace('"2026-11-15"', '"2026-11-15\\n"'),
    "a date in other digits": VALID.replace('"2026-11-15"', '"２０２６-11-15"'),
    "a region with a path": VALID.replace('"eu-west-1"', '"eu-west-1/../x"'),
    "a region of a host": VALID.replace('"eu-west-1"', '"eu-west-1.evil.example#"'),
}

# content type, and how the JSON text is sent
FORMS: dict[str, tuple[str, Any]] = {
    "object": ("application/json", lambda text: text),
    "string": ("application/json", json.dumps),
    "YAML": ("application/yaml", lambda text: text),
    "in body": ("application/json", lambda text: json.dumps({"body": text})),
    "form": ("application/x-www-form-urlencoded", lambda text: "body=" + quote_plus(text)),
}


@pytest.fixture(scope="module")
def database(running: Service, superuser: Address) -> Iterator[Superuser]:
    with connect_superuser(running, superuser) as connection:
        yield connection


def check(form: str, text: str) -> None:
    """Check a template as the route does, without a database."""
    content_type, encode = FORMS[form]
    template = parse_template_request(content_type, encode(text).encode()).template
    violations = find_template_violations(template, creating=True)
    refuse_if([*violations, *find_unresolved_masks(template)])


def post(service: Service, form: str, text: str) -> httpx.Response:
    content_type, encode = FORMS[form]
    headers = {**master_headers(service), "Content-Type": content_type}
    return service.http.post(PATH, content=encode(text).encode(), headers=headers)


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_template_is_refused_in_every_form(name: str) -> None:
    for form in FORMS:
        with pytest.raises(ServiceError) as refused:
            check(form, MALFORMED[name])

        assert refused.value.status in (400, 413), form


def test_malformed_templates_store_nothing(service: Service, database: Superuser) -> None:
    before = database.digest(service.organisation.organisation_id)

    for text, form in zip(MALFORMED.values(), cycle(FORMS), strict=False):
        response = post(service, form, text)
        assert response.status_code in (400, 413), (form, response.text)
        read_problem(response, response.status_code)

    assert database.digest(service.organisation.organisation_id) == before


def test_every_form_accepts_the_valid_template(service: Service) -> None:
    """Otherwise malformed templates would be refused for another reason."""
    statuses = {form: post(service, form, VALID).status_code for form in FORMS}

    assert statuses == dict.fromkeys(FORMS, 201)
    for form in FORMS:
        check(form, VALID)


@pytest.mark.parametrize("form", FORMS)
def test_an_error_repeats_nothing_that_was_sent(service: Service, form: str) -> None:
    """read_problem looks for the canary in the response."""
    template = build_template(
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

    read_problem(post(service, form, json.dumps(template)), 400)
    read_problem(post(service, form, json.dumps(template) + CANARY), 400)
    read_problem(post(service, form, json.dumps(CANARY)), 400)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.just("***"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


@example("vendor", {"aws": {"cred": "c", "region": "eu-west-1", "x": {"cred": "***"}}})
@given(st.sampled_from(sorted(TEMPLATE)), json_values)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_value_of_a_field_is_a_server_error(service: Service, field: str, value: Any) -> None:
    response = service.http.post(
        PATH, json=TEMPLATE | {field: value}, headers=master_headers(service)
    )

    assert response.status_code in (201, 400), response.text


@given(st.text(alphabet="{}[]:,-&*!|>'\"%@`#?~ \n\tab1.", max_size=60))
def test_any_yaml_text_is_refused_as_a_client_error(text: str) -> None:
    with pytest.raises(ServiceError) as refused:
        check("YAML", text)

    assert refused.value.status == 400


@pytest.mark.parametrize("name", ["not a number", "a key twice", "very deep lists", "a NUL"])
def test_malformed_templates_are_not_compared(service: Service, name: str) -> None:
    stack_id = apply_template(service)["stack_id"]
    body = {"id": [{stack_id: {"version": "latest"}}], "body": [MALFORMED[name]]}

    response = service.http.post(f"{PATH}/compare", json=body, headers=master_headers(service))

    assert read_problem(response, 400)["code"] == "malformed_body"


def test_all_of_many_differences_are_found(service: Service) -> None:
    """Two templates of the maximum size without a common value."""
    stack_id = apply_template(service, more={f"k{n}": n for n in range(15_000)})["stack_id"]
    other_template = json.dumps(TEMPLATE | {"more": {f"k{n}": -n - 1 for n in range(15_000)}})
    body = {"id": [{stack_id: {"version": "latest"}}], "body": [other_template]}

    response = service.http.post(f"{PATH}/compare", json=body, headers=master_headers(service))

    assert len(response.json()["diff"]["edited"]) == 15_000
