"""Bodies of the template operations, in the order of the specification."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from nimbill.foundation.basis import Basis, chosen, stated
from nimbill.foundation.errors import Violation
from nimbill.http.request_bodies import Body, Success
from nimbill.legacy.stacks.stack_transitions import StackStatus


class TemplateBody(Body, frozen=True, kw_only=True):
    """Documents the body only: template_parser.py reads it, template_rules.py checks it."""

    basis: ClassVar[Basis] = stated("Legacy template body")

    version: str
    label: str
    description: str | None = None
    vendor: dict[str, Any] | None = None
    configurations: list[dict[str, Any]]
    nickname: str | None = None


class TemplateForm(Body, frozen=True, kw_only=True):
    """The template as JSON or YAML text."""

    basis: ClassVar[Basis] = chosen("template-forms")

    body: str
    nickname: str | None = None


class TemplateApplied(Success, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = stated("Legacy lifecycle API")

    stack_status: StackStatus
    stack_id: str
    version_id: str


class TemplateVersion(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = stated("Legacy template version item")
    size_basis: ClassVar[Basis] = chosen("template-versions")

    version_id: str
    latest: bool
    last_modified: str
    size: str


class ComparedVersion(Body, frozen=True, kw_only=True):
    """A version id; empty, `latest` or null means the most recent version."""

    basis: ClassVar[Basis] = chosen("compare-items")

    version: str | None = None


class Comparison(Body, frozen=True, kw_only=True):
    """Two stored templates, or a stored template and one in `body`."""

    basis: ClassVar[Basis] = stated("Legacy lifecycle API")

    id: list[dict[str, ComparedVersion]]
    body: list[Any] | None = None

    @classmethod
    def rule_violations(cls, sent: Mapping[str, Any]) -> Iterator[Violation]:
        ids, bodies = sent.get("id"), sent.get("body") or []
        if not isinstance(ids, list) or not isinstance(bodies, list):
            return
        for index, item in enumerate(ids):
            if isinstance(item, dict) and len(item) != 1:
                yield Violation(f"id[{index}]", "an object with one key, a stack id")
        if not ids:
            yield Violation("id", "at least one item")
        elif len(ids) + len(bodies) != 2:
            yield Violation("id", "two items, or one item and one in body")


class Edited(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = stated("Legacy lifecycle API")

    oldvalue: Any
    newvalue: Any


class TemplateDifference(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = stated("Legacy lifecycle API")

    new: dict[str, Any]
    removed: dict[str, Any]
    edited: dict[str, Edited]


class TemplatesCompared(Success, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = stated("Legacy lifecycle API")

    source: dict[str, Any]
    target: dict[str, Any]
    diff: TemplateDifference
