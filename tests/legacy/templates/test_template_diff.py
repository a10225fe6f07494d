"""New, removed and edited values between two templates."""

from __future__ import annotations

import copy
from decimal import Decimal
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from nimbill.legacy.templates.template_diff import EditedValue, find_differences
from tests.legacy.templates.template_requests import TEMPLATE


def test_equal_templates_have_no_differences() -> None:
    found = find_differences(TEMPLATE, copy.deepcopy(TEMPLATE))

    assert (found.new, found.removed, found.edited) == ({}, {}, {})


def test_paths_contain_keys_and_list_indexes() -> None:
    changed = copy.deepcopy(TEMPLATE)
    changed["configurations"][0]["provision"]["instance_count"] = 3
    changed["configurations"][1]["provision"]["spot"] = {"price": "0.1"}
    del changed["configurations"][0]["container"]["gitReference"]
    del changed["description"]
    changed["configurations"].append({"flag": "x"})

    found = find_differences(TEMPLATE, changed)

    assert found.edited == {"configurations/0/provision/instance_count": EditedValue(2, 3)}
    assert found.new == {
        "configurations/1/provision/spot": {"price": "0.1"},
        "configurations/2": {"flag": "x"},
    }
    assert found.removed == {
        "configurations/0/container/gitReference": "main",
        "description": "a shop with two layers",
    }


def test_a_value_of_another_type_is_edited() -> None:
    old = {"a": [1], "b": {"c": 1}, "d": 1, "e": None, "f": Decimal("1.0"), "g": "x"}
    new = {"a": {"0": 1}, "b": 7, "d": True, "e": 0, "f": 1, "g": "x"}

    found = find_differences(old, new)

    assert found.edited == {
        "a": EditedValue([1], {"0": 1}),
        "b": EditedValue({"c": 1}, 7),
        "d": EditedValue(1, True),
        "e": EditedValue(None, 0),
    }
    assert found.edited["d"].newvalue is True
    assert not found.new
    assert not found.removed


def test_slashes_in_keys_are_escaped() -> None:
    found = find_differences(
        {"a/b": 1, "c~d": 1, "a": {"b": 1}}, {"a/b": 2, "c~d": 2, "a": {"b": 2}}
    )

    assert set(found.edited) == {"a~1b", "c~0d", "a/b"}


def test_a_changed_secret_is_reported_as_masks() -> None:
    changed = copy.deepcopy(TEMPLATE)
    changed["vendor"]["aws"]["cred"] = "another"
    changed["configurations"][0]["container"] = {"gitPrivateKey": "another"}

    found = find_differences(TEMPLATE, changed)

    assert found.edited == {
        "vendor/aws/cred": EditedValue("***", "***"),
        "configurations/0/container/gitPrivateKey": EditedValue("***", "***"),
    }
    assert "another" not in repr(found)


def test_secrets_in_new_and_removed_sections_are_masked() -> None:
    without = {name: value for name, value in TEMPLATE.items() if name != "vendor"}
    masked = {"aws": {"cred": "***", "region": "eu-west-1"}}

    assert find_differences(TEMPLATE, without).removed == {"vendor": masked}
    assert find_differences(without, TEMPLATE).new == {"vendor": masked}
    assert find_differences({"cred": "x"}, {"cred": ""}).edited == {"cred": EditedValue("***", "")}


keys = st.sampled_from(["a", "a/b", "~", "cred", "0", ""])
values = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.text(max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=10,
)
templates = st.dictionaries(keys, values, max_size=3)


@given(templates, templates)
def test_differences_are_symmetric(old: dict[str, Any], new: dict[str, Any]) -> None:
    forward, backward = find_differences(old, new), find_differences(new, old)

    assert forward.new == backward.removed
    assert forward.removed == backward.new
    assert forward.edited.keys() == backward.edited.keys()
    assert {
        at: EditedValue(*reversed(edit)) for at, edit in forward.edited.items()
    } == backward.edited


@given(templates)
def test_a_template_does_not_differ_from_its_copy(template: dict[str, Any]) -> None:
    found = find_differences(template, copy.deepcopy(template))

    assert (found.new, found.removed, found.edited) == ({}, {}, {})
