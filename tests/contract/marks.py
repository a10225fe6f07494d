"""Where facts come from: the marks in the source, the choices page, and what is wrong with them.

Every function answers what is wrong, one readable line each; an empty list means all is well.
"""

import ast
import importlib
import pkgutil
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import nimbill
from nimbill.foundation.basis import Basis
from nimbill.http.request_bodies import Body
from tests.contract.routes_of import Route
from tests.contract.specification import headings, words

# tables of the specification that are not called <noun>_rules.py
RULE_TABLES = (
    "access/role_actions.py",
    "access/caller.py",
    "login/grants.py",
    "resellers/meta_flags.py",
    "exports/columns.py",
    "invoices/fees.py",
    "invoices/support_plans.py",
    "legacy/stacks/stack_moves.py",
)
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
    quotes: tuple[str, ...]
    text: str


def marks(source: Path) -> list[Mark]:
    """Every stated(…) and chosen(…) under a folder."""
    return [
        Mark(call.func.id, _only_text(call), str(path.relative_to(source)), call.lineno)
        for path in sorted(source.rglob("*.py"))
        for call in ast.walk(ast.parse(path.read_text()))
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Name)
        and call.func.id in ("stated", "chosen")
    ]


def _only_text(call: ast.Call) -> str:
    match call.args:
        case [ast.Constant(value=str(text))]:
            return text
    return "(not a plain text)"


def choices(page: str) -> list[Choice]:
    """The choices of the page, each with the words it quotes."""
    found = []
    for part in re.split(r"^## ", page, flags=re.MULTILINE)[1:]:
        name, _, text = part.partition("\n")
        quotes = re.findall(r"(?:^>.*\n?)+", text, re.MULTILINE)
        plain = (re.sub(r"^> ?", "", quote, flags=re.MULTILINE) for quote in quotes)
        found.append(Choice(name.strip(), tuple(words(quote) for quote in plain), text))
    return found


def headings_that_are_not_there(found: Iterable[Mark], specification: str) -> list[str]:
    """A stated heading may leave out what the specification adds to it in brackets."""
    known = headings(specification)
    return [
        f"{mark}: the specification has no heading {mark.where}"
        for mark in found
        if mark.kind == "stated"
        and not any(one == mark.where or one.startswith(f"{mark.where} (") for one in known)
    ]


def words_that_are_not_there(listed: Iterable[Choice], specification: str) -> list[str]:
    whole = words(specification)
    return [
        f"{choice.name} quotes what the specification does not say: {quote}"
        for choice in listed
        for quote in choice.quotes
        if quote not in whole
    ]


def marks_without_a_choice(found: Iterable[Mark], listed: Iterable[Choice]) -> list[str]:
    known = {choice.name for choice in listed}
    return [
        f"{mark}: docs/choices.md has no heading {mark.where}"
        for mark in found
        if mark.kind == "chosen" and mark.where not in known
    ]


def choices_nobody_uses(found: Iterable[Mark], listed: Iterable[Choice]) -> list[str]:
    used = {mark.where for mark in found if mark.kind == "chosen"}
    return [
        f"no code names the choice {choice.name}" for choice in listed if choice.name not in used
    ]


def unexplained_choices(listed: Iterable[Choice]) -> list[str]:
    """A choice quotes the gap, gives an answer and a reason, under a name of plain words."""
    complaints, met = [], set()
    for choice in listed:
        if not choice.quotes:
            complaints.append(f"{choice.name} quotes nothing of the specification")
        complaints += [
            f"{choice.name} has no {part.lower()}"
            for part in ("Answer", "Reason")
            if not re.search(rf"^\*\*{part}\.\*\* \S", choice.text, re.MULTILINE)
        ]
        if choice.name in met or not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", choice.name):
            complaints.append(f"{choice.name} is not a name of its own in plain words")
        met.add(choice.name)
    return complaints


def all_bodies() -> list[type[Body]]:
    """Every request and response body of the service, wherever it is defined."""
    for module in pkgutil.walk_packages(nimbill.__path__, "nimbill."):
        if not module.name.startswith(NOT_IMPORTED):
            importlib.import_module(module.name)
    return [body for body in _below(Body) if body.__module__.startswith("nimbill.")]


def _below(kind: type[Body]) -> Iterator[type[Body]]:
    for subclass in kind.__subclasses__():
        yield subclass
        yield from _below(subclass)


def bodies_without_basis(bodies: Iterable[type[Body]]) -> list[str]:
    """An inherited basis does not count: it speaks of the fields of another body."""
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


def rule_tables(source: Path) -> Mapping[str, Path]:
    named = {str(path.relative_to(source)): path for path in source.rglob("*_rules.py")}
    return named | {name: source / name for name in RULE_TABLES if (source / name).is_file()}


def rule_tables_without_basis(source: Path) -> list[str]:
    """A module that holds a table says at its top level where the table comes from."""
    return [
        f"{name} says nowhere what it is based on"
        for name, path in rule_tables(source).items()
        if not any(_gives_basis(node) for node in ast.parse(path.read_text()).body)
    ]


def _gives_basis(node: ast.stmt) -> bool:
    match node:
        case ast.Assign(
            targets=[ast.Name(id=name)], value=ast.Call(func=ast.Name(id="stated" | "chosen"))
        ):
            return name == "basis" or name.endswith("_basis")
    return False
