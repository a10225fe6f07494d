"""A template as it may come: an object, a text of JSON or YAML, a form, a nickname beside it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nimbill.foundation import exact_json
from nimbill.foundation.basis import chosen
from nimbill.foundation.errors import Invalid, Unreadable, Violation, refuse_if
from nimbill.http.forms import FORM_TYPES, read_form
from nimbill.legacy.templates.yaml_text import read_yaml

basis = chosen("template-forms")

TEMPLATE_BYTES_MAX = 262_144
# the same in the widest spelling of a form, and room for a nickname
FORM_BYTES_MAX = 3 * TEMPLATE_BYTES_MAX + 4_096
NICKNAME_MAX = 100
YAML_TYPES = ("application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml")
# what may hold the template where it is not the whole body
HOLDERS = ("body", "template")


@dataclass(frozen=True, slots=True, repr=False)
class Given:
    """What was sent, before any rule was asked; never shown, since it holds secrets."""

    template: dict[str, Any]
    nickname: str | None = None


def read_sent(content_type: str, body: bytes) -> Given:
    """By its content type; Invalid where it is no template, Unreadable where it is too large."""
    kind = content_type.partition(";")[0].strip().lower()
    if kind in FORM_TYPES:
        return _held(read_form(content_type, body, bytes_max=FORM_BYTES_MAX))
    _refuse_large(len(body))
    if kind in YAML_TYPES:
        return given_in(read_yaml(_decoded(body)))
    if kind != "application/json":
        raise Unreadable(415, "media_type", "the template must be JSON, YAML or a form")
    return given_in(exact_json.read(body))


def given_in(sent: Any, at: str = "body") -> Given:
    """The template itself, as an object or a text, or an object that holds it."""
    if isinstance(sent, dict) and "configurations" not in sent and _holders(sent):
        return _held(sent, at)
    return _whole(sent, at)


def _whole(sent: Any, at: str = "body") -> Given:
    """A nickname in the template is the stack's and leaves it here."""
    template = _template(sent, at)
    nickname = _nickname(template)
    return Given({k: v for k, v in template.items() if k != "nickname"}, nickname)


def _template(sent: Any, at: str) -> dict[str, Any]:
    """An object as it is, a text by what it says: with a brace in front it is JSON, else YAML."""
    if isinstance(sent, str):
        text = sent.encode()
        _refuse_large(len(text))
        sent = exact_json.read(text) if sent.lstrip()[:1] == "{" else read_yaml(sent)
    if not isinstance(sent, dict):
        raise _broken(at, "a template: an object, or a text of JSON or YAML that is one")
    return sent


def _held(fields: Mapping[str, Any], at: str = "body") -> Given:
    names = _holders(fields)
    if len(names) != 1:
        raise _broken(at, "required once: the template, as `body` or as `template`")
    inside = _whole(fields[names[0]], at)
    return Given(inside.template, _nickname(fields) or inside.nickname)


def _holders(fields: Mapping[str, Any]) -> list[str]:
    return [name for name in HOLDERS if name in fields]


def _nickname(fields: Mapping[str, Any]) -> str | None:
    """Null and an empty text are the same as none."""
    nickname = fields.get("nickname")
    if nickname is None or nickname == "":
        return None
    if not isinstance(nickname, str) or len(nickname) > NICKNAME_MAX:
        refuse_if([Violation("nickname", f"length 1 to {NICKNAME_MAX}")])
    return str(nickname)


def _decoded(body: bytes) -> str:
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        raise Invalid("malformed_body", "the body is not UTF-8") from None


def _refuse_large(size: int) -> None:
    if size > TEMPLATE_BYTES_MAX:
        raise Unreadable(413, "body_too_large", "the template is larger than 256 KiB")


def _broken(field: str, rule: str) -> Invalid:
    return Invalid("rule_broken", "the request breaks a rule", [Violation(field, rule)])
