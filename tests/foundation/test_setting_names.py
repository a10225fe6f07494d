"""Environment variables that look like settings but are none."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from nimbill.application.installed import list_unknown_settings
from nimbill.foundation.setting_names import find_unknown_settings

ROOT = Path(__file__).parents[2]
KNOWN = {"NIMBILL_DATA", "NIMBILL_DATABASE_URL"}


def test_an_unknown_variable_is_reported_with_the_nearest_name_and_without_its_value() -> None:
    environment = {"NIMBILL_DATBASE_URL": "postgresql://canary@x/y", "NIMBILL_DATA": "/srv"}

    (sentence,) = find_unknown_settings(environment, KNOWN)

    assert sentence == (
        "NIMBILL_DATBASE_URL is not a setting and has no effect. Did you mean NIMBILL_DATABASE_URL?"
    )


def test_a_name_that_is_near_to_none_has_no_suggestion() -> None:
    (sentence,) = find_unknown_settings({"NIMBILL_XYZZY_PLUGH": "1"}, KNOWN)

    assert sentence == "NIMBILL_XYZZY_PLUGH is not a setting and has no effect."


@pytest.mark.parametrize("name", ["PATH", "NIMBIL_DATA", "nimbill_data"])
def test_variables_of_other_programs_are_ignored(name: str) -> None:
    assert list(find_unknown_settings({name: "1"}, KNOWN)) == []


def test_every_variable_that_the_program_reads_is_known() -> None:
    sources = "".join(file.read_text() for file in (ROOT / "src" / "nimbill").rglob("*.py"))
    names = set(re.findall(r"\"(NIMBILL_[A-Z_]+)\"", sources))

    assert len(names) > 15
    assert list_unknown_settings(dict.fromkeys(names, "x")) == []


def test_every_documented_setting_is_known() -> None:
    page = (ROOT / "docs" / "operating.md").read_text()
    names = set(re.findall(r"^\| `(NIMBILL_[A-Z_]+)` \|", page, re.MULTILINE))

    assert len(names) > 15
    assert list_unknown_settings(dict.fromkeys(names, "x")) == []
