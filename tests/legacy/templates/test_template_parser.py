"""The content types and forms in which a template is accepted or refused."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlencode

import pytest
import yaml

from nimbill.foundation.errors import Invalid, ServiceError, Unreadable
from nimbill.legacy.templates.template_parser import (
    TEMPLATE_BYTES_MAX,
    SentTemplate,
    parse_template,
    parse_template_request,
)
from tests.legacy.templates.template_requests import CRED, TEMPLATE

JSON = "application/json"
FORM = "application/x-www-form-urlencoded"
AS_JSON, AS_YAML = json.dumps(TEMPLATE), yaml.safe_dump(TEMPLATE, sort_keys=False)


def parse(content_type: str, body: Any) -> SentTemplate:
    if not isinstance(body, bytes):
        body = (body if isinstance(body, str) else json.dumps(body)).encode()
    return parse_template_request(content_type, body)


def build_multipart(**fields: str) -> tuple[str, bytes]:
    parts = [
        f'--cut\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in fields.items()
    ]
    return "multipart/form-data; boundary=cut", ("".join(parts) + "--cut--\r\n").encode()


FORMS: dict[str, tuple[str, Any]] = {
    "an object": (JSON, TEMPLATE),
    "an object with a charset": (f"{JSON}; charset=utf-8;", TEMPLATE),
    "a text of JSON": (JSON, json.dumps(AS_JSON)),
    "a text of indented JSON": (JSON, json.dumps("\n " + json.dumps(TEMPLATE, indent=2))),
    "a text of YAML": (JSON, json.dumps(AS_YAML)),
    "an object in body": (JSON, {"body": TEMPLATE}),
    "a text of JSON in body": (JSON, {"body": AS_JSON}),
    "a text of YAML in body": (JSON, {"body": AS_YAML}),
    "an object in template": (JSON, {"template": TEMPLATE}),
    "a text of YAML in template": (JSON, {"template": AS_YAML}),
    "YAML": ("application/yaml", AS_YAML),
    "YAML by an older name": ("application/x-yaml; charset=utf-8", AS_YAML),
    "YAML as text": ("text/yaml", AS_YAML),
    "YAML as text by an older name": ("TEXT/X-YAML", AS_YAML),
    "JSON, which is YAML too": ("application/yaml", AS_JSON),
    "in body, as YAML": ("application/yaml", yaml.safe_dump({"body": TEMPLATE})),
    "a form with JSON": (FORM, urlencode({"body": AS_JSON})),
    "a form with YAML": (FORM, urlencode({"template": AS_YAML})),
    "a form in parts": build_multipart(body=AS_JSON),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_template(form: str) -> None:
    sent = parse(*FORMS[form])

    assert sent.template == TEMPLATE
    assert sent.nickname is None


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        (JSON, TEMPLATE | {"nickname": "red-fox"}),
        (JSON, {"body": AS_YAML, "nickname": "red-fox"}),
        (JSON, {"body": TEMPLATE | {"nickname": "red-fox"}}),
        (JSON, {"body": TEMPLATE | {"nickname": "other"}, "nickname": "red-fox"}),
        ("text/yaml", AS_YAML + "nickname: red-fox\n"),
        (FORM, urlencode({"body": AS_JSON, "nickname": "red-fox"})),
        build_multipart(body=AS_YAML, nickname="red-fox"),
    ],
)
def test_the_nickname_is_removed_from_the_template(content_type: str, body: Any) -> None:
    sent = parse(content_type, body)

    assert sent.nickname == "red-fox"
    assert sent.template == TEMPLATE


@pytest.mark.parametrize("nickname", [None, ""])
def test_an_empty_nickname_means_none(nickname: str | None) -> None:
    assert parse(JSON, TEMPLATE | {"nickname": nickname}).nickname is None


@pytest.mark.parametrize("nickname", [7, ["a"], "x" * 101])
def test_a_nickname_has_1_to_100_characters(nickname: Any) -> None:
    with pytest.raises(Invalid) as refused:
        parse(JSON, TEMPLATE | {"nickname": nickname})

    assert refused.value.violations == (("nickname", "length 1 to 100"),)


def test_a_template_may_have_a_field_named_body() -> None:
    """An object with layers is a template itself."""
    sent = TEMPLATE | {"body": "something else"}

    assert parse(JSON, sent).template == sent


@pytest.mark.parametrize(
    ("content_type", "body", "field"),
    [
        (JSON, "[]", "body"),
        (JSON, "null", "body"),
        (JSON, "3", "body"),
        (JSON, '""', "body"),
        (JSON, '"only words"', "body"),
        (JSON, {"body": [TEMPLATE]}, "body"),
        (JSON, {"template": None}, "body"),
        (JSON, {"body": json.dumps(AS_JSON)}, "body"),
        (JSON, {"body": AS_JSON, "template": AS_JSON}, "body"),
        ("text/yaml", "", "body"),
        ("text/yaml", "- a\n- b\n", "body"),
        (FORM, "", "body"),
        (FORM, urlencode({"nickname": "x"}), "body"),
        (FORM, AS_JSON, "body"),
    ],
)
def test_what_is_not_a_template_is_a_violation(content_type: str, body: Any, field: str) -> None:
    with pytest.raises(Invalid) as refused:
        parse(content_type, body)

    assert [each.field for each in refused.value.violations] == [field]


@pytest.mark.parametrize(
    "content_type", ["", "text/plain", "application/xml", "application/json-seq"]
)
def test_other_content_types_are_refused(content_type: str) -> None:
    with pytest.raises(Unreadable) as refused:
        parse(content_type, TEMPLATE)

    assert (refused.value.status, refused.value.code) == (415, "media_type")


def build_large(size: int) -> dict[str, Any]:
    return TEMPLATE | {"description": "x" * (size - len(AS_JSON))}


@pytest.mark.parametrize("form", ["object", "text", "yaml", "form"])
def test_a_template_has_at_most_256_kib(form: str) -> None:
    text = json.dumps(build_large(TEMPLATE_BYTES_MAX + 100))
    bodies = {
        "object": (JSON, text),
        "text": (JSON, json.dumps(text)),
        "yaml": ("text/yaml", text),
        "form": (FORM, urlencode({"body": text})),
    }

    with pytest.raises(Unreadable) as refused:
        parse(*bodies[form])

    assert (refused.value.status, refused.value.code) == (413, "body_too_large")
    assert parse(JSON, build_large(TEMPLATE_BYTES_MAX - 100)).template["label"] == "shop"


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        (JSON, b"\xff\xfe{}"),
        ("text/yaml", b"a: \xff"),
        (JSON, "{"),
        (JSON, '{"a": NaN}'),
        (JSON, '{"a": 1, "a": 2}'),
        (JSON, '{"a": "\\ud800"}'),
        (JSON, '{"a": "\\u0000"}'),
        (JSON, json.dumps('{"a": NaN}')),
        (JSON, json.dumps('{"a": 1, "a": 2}')),
        (JSON, json.dumps('{"a": "\\ud800"}')),
        (JSON, json.dumps('{"a": "\\u0000"}')),
        (JSON, json.dumps("{" + '"a": {' * 40 + "}" * 41)),
        (JSON, "[" * 100_000),
        (FORM, urlencode({"body": '{"a": NaN}'})),
        (FORM, "body=%ff"),
        (FORM, "body={}&body={}"),
        ("multipart/form-data", b"--x"),
    ],
)
def test_malformed_bodies_are_refused(content_type: str, body: Any) -> None:
    with pytest.raises(ServiceError) as refused:
        parse(content_type, body)

    assert (refused.value.status, refused.value.code) == (400, "malformed_body")


def test_the_repr_contains_no_secrets() -> None:
    assert CRED not in repr(parse(JSON, TEMPLATE))


def test_a_violation_names_the_given_path() -> None:
    with pytest.raises(Invalid) as refused:
        parse_template(3, "body[0]")

    assert refused.value.violations[0].field == "body[0]"
