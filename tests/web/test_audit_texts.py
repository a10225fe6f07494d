"""The console names every action and every kind of object that the audit log records."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from nimbill.access.gate import Unaudited
from tests.contract.declared_routes import Route, all_routes

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "nimbill"
PAGE = ROOT / "web" / "src" / "console" / "pages" / "audit"
# what operations record beside the entry of their route, written as action="name"
RECORDED = re.compile(r'(?<![\w"])action="([a-z_]+)"')
NAMED = re.compile(r"^\s+(\w+): t`", re.MULTILINE)
OBJECT = re.compile(r"[a-z-]+(?:_[a-z]+)*")


def list_actions() -> set[str]:
    of_routes = {route.operation for route in all_routes() if is_audited(route)}
    texts = (path.read_text() for path in SOURCE.rglob("*.py"))
    return of_routes | {action for text in texts for action in RECORDED.findall(text)}


def is_audited(route: Route) -> bool:
    options = route.handler.opt
    return not isinstance(options.get("audited", Unaudited("reads")), Unaudited)


def list_object_types() -> set[str]:
    resources = (route.handler.opt["audited"] for route in all_routes() if is_audited(route))
    return {OBJECT.match(resource)[0] for resource in resources}  # type: ignore[index]


@pytest.mark.parametrize("action", sorted(list_actions()))
def test_the_action_has_a_text(action: str) -> None:
    # the catalogues of both languages are complete (test_generated_files.py)
    assert action in NAMED.findall((PAGE / "action-texts.ts").read_text())


@pytest.mark.parametrize("object_type", sorted(list_object_types()))
def test_the_object_has_a_text(object_type: str) -> None:
    texts = (PAGE / "object-texts.ts").read_text().replace('"', "")
    assert object_type in re.findall(r"^\s+([\w-]+): t`", texts, re.MULTILINE)
