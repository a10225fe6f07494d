"""Parsing of templates, which are sent as JSON, YAML or a form, with an optional nickname."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nimbill.foundation import exact_json
from nimbill.foundation.errors import (
    Invalid,
    Unreadable,
    Violation,
    refuse_if,
    rule_violations_error,
)
from nimbill.http.forms import FORM_TYPES, parse_form
from nimbill.legacy.templates.yaml_parser import parse_yaml

TEMPLATE_BYTES_MAX = 262_144
# percent-encoding triples the size; the rest is for the nickname
FORM_BYTES_MAX = 3 * TEMPLATE_BYTES_MAX + 4_096
NICKNAME_MAX = 100
YAML_TYPES = ("application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml")
# fields that may contain the template if it is not the whole body
TEMPLATE_FIELDS = ("body", "template")


@dataclass(frozen=True, slots=True, repr=False)
class SentTemplate:
    """Not validated yet. Has no repr, because it contains secrets."""

    template: dict[str, Any]
    nickname: str | None = None


def parse_template_request(content_type: str, body: bytes) -> SentTemplate:
    """Parse by content type; Invalid if it is not a template, Unreadable if it is too large."""
    media_type = content_type.partition(";")[0].strip().lower()
    if media_type in FORM_TYPES:
        return _parse_fields(parse_form(content_type, body, bytes_max=FORM_BYTES_MAX))
    _refuse_large(len(body))
    if media_type in YAML_TYPES:
        return parse_template(parse_yaml(_decode(body)))
    if media_type != "application/json":
        raise Unreadable(415, "media_type", "The template must be JSON, YAML or a form.")
    return parse_template(exact_json.decode(body))


def parse_template(sent: Any, at: str = "body") -> SentTemplate:
    """`sent` is the template as an object or a string, or an object that contains it."""
    if isinstance(sent, dict) and "configurations" not in sent and _find_template_fields(sent):
        return _parse_fields(sent, at)
    return _parse_object(sent, at)


def _parse_object(sent: Any, at: str = "body") -> SentTemplate:
    """The nickname belongs to the stack and is removed from the template."""
    template = _read_object(sent, at)
    nickname = _read_nickname(template)
    return SentTemplate({k: v for k, v in template.items() if k != "nickname"}, nickname)


def _read_object(sent: Any, at: str) -> dict[str, Any]:
    """Parse a string as JSON if it starts with a brace, else as YAML."""
    if isinstance(sent, str):
        text = sent.encode()
        _refuse_large(len(text))
        sent = exact_json.decode(text) if sent.lstrip()[:1] == "{" else parse_yaml(sent)
    if not isinstance(sent, dict):
        raise _invalid(at, "a template: an object, or JSON or YAML text of an object")
    return sent


def _parse_fields(fields: Mapping[str, Any], at: str = "body") -> SentTemplate:
    fields_with_template = _find_template_fields(fields)
    if len(fields_with_template) != 1:
        raise _invalid(at, "required once: the template, as `body` or as `template`")
    inner = _parse_object(fields[fields_with_template[0]], at)
    return SentTemplate(inner.template, _read_nickname(fields) or inner.nickname)


def _find_template_fields(fields: Mapping[str, Any]) -> list[str]:
    return [name for name in TEMPLATE_FIELDS if name in fields]


def _read_nickname(fields: Mapping[str, Any]) -> str | None:
    """Null and an empty string mean that there is none."""
    nickname = fields.get("nickname")
    if nickname is None or nickname == "":
        return None
    if not isinstance(nickname, str) or len(nickname) > NICKNAME_MAX:
        refuse_if([Violation("nickname", f"length 1 to {NICKNAME_MAX}")])
    return str(nickname)


def _decode(body: bytes) -> str:
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        raise Invalid("malformed_body", "The body is not UTF-8.") from None


def _refuse_large(size: int) -> None:
    if size > TEMPLATE_BYTES_MAX:
        raise Unreadable(413, "body_too_large", "The template is larger than 256 KiB.")


def _invalid(field: str, rule: str) -> Invalid:
    return rule_violations_error([Violation(field, rule)])
