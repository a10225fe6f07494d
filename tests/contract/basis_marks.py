"""Checks of the marks stated(…) and chosen(…) against the specification and the choices page.

Every check returns one line per problem; an empty list means that there is none.
"""

import ast
import importlib
import pkgutil
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

import nimbill
from nimbill.foundation.basis import Basis
from nimbill.http.request_bodies import Body
from tests.contract.declared_routes import Route

# modules that hold a table of the specification and are not called <noun>_rules
RULE_TABLES = (
    "nimbill.access.role_actions",
    "nimbill.access.caller",
    "nimbill.customers.resellers.meta_flags",
    "nimbill.identity.login.grants",
    "nimbill.invoicing.calculation.fees",
    "nimbill.invoicing.calculation.support_plans",
    "nimbill.invoicing.exports.columns",
    "nimbill.legacy.stacks.stack_transitions",  # version 3
)
CHOICE_COMMENT = re.compile(r"\s*# See docs/choices\.md, ([a-z0-9-]+)\.$")
NOT_IMPORTED = ("nimbill.__main__", "nimbill.database.migrations.")


class Mark(NamedTuple):
    kind: str
    where: str
    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class Choice(NamedTuple):
    name: str
    open_headings: tuple[str, ...]
    text: str


def list_marks(source: Path) -> list[Mark]:
    """Every stated(…), chosen(…) and comment that names a choice, in the files of a folder."""
    return [
        Mark("chosen", comment[1], str(path.relative_to(source)), number)
        for path in sorted(source.rglob("*.py"))
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if (comment := CHOICE_COMMENT.match(line))
    ] + [
        Mark(call.func.id, _only_argument(call), str(path.relative_to(source)), call.lineno)
        for path in sorted(source.rglob("*.py"))
        for call in ast.walk(ast.parse(path.read_text()))
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Name)
        and call.func.id in ("stated", "chosen")
    ]


def _only_argument(call: ast.Call) -> str:
    match call.args:
        case [ast.Constant(value=str(text))]:
            return text
    return "(not a string literal)"


def parse_choices(page: str) -> list[Choice]:
    """The choices of the page, each with the headings that leave it open."""
    choices = []
    for part in re.split(r"^### ", page, flags=re.MULTILINE)[1:]:
        name, _, text = part.partition("\n")
        point = re.search(
            r"^\*\*Not specified\.\*\* (.*?)(?:\n\n|\Z)", text, re.MULTILINE | re.DOTALL
        )
        headings = re.findall(r"\[([^]]+)\](?!\()", point[1] if point else "")
        choices.append(Choice(name.strip(), tuple(headings), text))
    return choices


def marks_without_heading(marks: Iterable[Mark], headings: Iterable[str]) -> list[str]:
    known = set(headings)
    return [
        f"{mark}: the specification has no heading {mark.where}"
        for mark in marks
        if mark.kind == "stated" and mark.where not in known
    ]


def choices_without_heading(choices: Iterable[Choice], headings: Iterable[str]) -> list[str]:
    known = set(headings)
    return [
        f"{choice.name} refers to {heading}, which is no heading of the specification"
        for choice in choices
        for heading in choice.open_headings
        if heading not in known
    ]


def marks_without_choice(marks: Iterable[Mark], choices: Iterable[Choice]) -> list[str]:
    known = {choice.name for choice in choices}
    return [
        f"{mark}: docs/choices.md has no heading {mark.where}"
        for mark in marks
        if mark.kind == "chosen" and mark.where not in known
    ]


def unused_choices(marks: Iterable[Mark], choices: Iterable[Choice]) -> list[str]:
    used = {mark.where for mark in marks if mark.kind == "chosen"}
    return [
        f"no mark names the choice {choice.name}" for choice in choices if choice.name not in used
    ]


def incomplete_choices(choices: Iterable[Choice]) -> list[str]:
    """A choice has an open heading, an answer, a reason and a unique name in lower case."""
    complaints, names = [], set()
    for choice in choices:
        if not choice.open_headings:
            complaints.append(f"{choice.name} refers to no heading of the specification")
        complaints += [
            f"{choice.name} has no {part.lower()}"
            for part in ("Answer", "Reason")
            if not re.search(rf"^\*\*{part}\.\*\*\s+\S", choice.text, re.MULTILINE)
        ]
        if choice.name in names or not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", choice.name):
            complaints.append(f"{choice.name} is not a unique name in lower case")
        names.add(choice.name)
    return complaints


@cache
def all_bodies() -> tuple[type[Body], ...]:
    """Every request and response body of the service."""
    for module in pkgutil.walk_packages(nimbill.__path__, "nimbill."):
        if not module.name.startswith(NOT_IMPORTED):
            importlib.import_module(module.name)
    return tuple(body for body in _subclasses(Body) if body.__module__.startswith("nimbill."))


def _subclasses(base: type[Body]) -> Iterator[type[Body]]:
    for subclass in base.__subclasses__():
        yield subclass
        yield from _subclasses(subclass)


def bodies_without_basis(bodies: Iterable[type[Body]]) -> list[str]:
    """An inherited basis is about the fields of another body and does not count."""
    return [
        f"{body.__module__}.{body.__name__} has no basis of its own"
        for body in bodies
        if not isinstance(body.__dict__.get("basis"), Basis)
    ]


def routes_without_basis(routes: Iterable[Route]) -> list[str]:
    return [
        f"{route} has no basis"
        for route in routes
        if not isinstance(route.handler.opt.get("basis"), Basis)
    ]


def rule_tables(source: Path, listed: Iterable[str] = ()) -> Mapping[str, Path]:
    """The <noun>_rules.py files of a folder, and the files of the listed modules."""
    paths = [
        *source.rglob("*_rules.py"),
        *(source.parent / f"{module.replace('.', '/')}.py" for module in listed),
    ]
    return {str(path.relative_to(source)): path for path in paths}


def rule_tables_without_basis(tables: Mapping[str, Path]) -> list[str]:
    """A module with a rule table assigns its basis at the top level."""
    return [
        f"{name} does not state its basis"
        for name, path in tables.items()
        if not any(_assigns_basis(node) for node in ast.parse(path.read_text()).body)
    ]


def _assigns_basis(node: ast.stmt) -> bool:
    match node:
        case ast.Assign(
            targets=[ast.Name(id=name)], value=ast.Call(func=ast.Name(id="stated" | "chosen"))
        ):
            return name == "basis" or name.endswith("_basis")
    return False
