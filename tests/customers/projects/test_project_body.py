"""Field rules of the body that creates and changes a project."""

from __future__ import annotations

import pytest

from nimbill.customers.projects.bodies import ProjectBody
from tests.body_violations import find_body_violations
from tests.customers.projects.projects import PROJECT


@pytest.mark.parametrize("field", PROJECT)
def test_every_field_is_required(field: str) -> None:
    absent = {name: value for name, value in PROJECT.items() if name != field}

    assert find_body_violations(ProjectBody, PROJECT) == []
    for body in (absent, absent | {field: None}):
        assert find_body_violations(ProjectBody, body) == [(field, "required")]


@pytest.mark.parametrize("field", ["project_code", "project_label"])
def test_code_and_label_have_1_to_40_characters(field: str) -> None:
    for valid in ("a", "長" * 40, "🌸" * 40):
        assert find_body_violations(ProjectBody, PROJECT | {field: valid}) == []
    for invalid in ("", "長" * 41):
        violations = find_body_violations(ProjectBody, PROJECT | {field: invalid})
        assert violations == [(field, "length 1 to 40")]


def test_the_currency_is_jpy_or_usd() -> None:
    for valid in ("jpy", "usd"):
        assert find_body_violations(ProjectBody, PROJECT | {"project_currency": valid}) == []
    for invalid in ("eur", "JPY", "", "jpy "):
        violations = find_body_violations(ProjectBody, PROJECT | {"project_currency": invalid})
        assert violations == [("project_currency", "one of jpy, usd")]
