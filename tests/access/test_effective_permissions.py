"""Comparison of effective permissions, checked against an oracle that lists every action."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nimbill.access.effective_permissions import ROOT, EffectivePermissions, FilterKey
from tests.access.permission_oracle import (
    ACTIONS,
    GROUPS,
    NAMESPACES,
    RESOURCES,
    TYPES,
    Filters,
    list_possible_actions,
    list_visible_resources,
)

some_permissions = st.frozensets(st.sampled_from(["Admin", *ACTIONS[:3]]), max_size=3)
some_filters: st.SearchStrategy[dict[FilterKey, frozenset[str]]] = st.dictionaries(
    st.sampled_from(TYPES["portal"]),
    st.frozensets(st.sampled_from(RESOURCES[:3]), min_size=1),
    max_size=3,
)
subusers = st.builds(
    EffectivePermissions,
    st.dictionaries(st.sampled_from(NAMESPACES), some_permissions, max_size=2),
    some_filters,
)
any_user = st.one_of(subusers, st.just(ROOT))
namespaces = st.sampled_from(NAMESPACES)


@settings(max_examples=400)
@given(any_user, any_user)
def test_a_user_covers_another_with_a_subset_of_its_actions(
    user: EffectivePermissions, other: EffectivePermissions
) -> None:
    assert user.covers(other) is (list_possible_actions(other) <= list_possible_actions(user))


def test_every_pair_of_a_small_set_agrees_with_the_oracle() -> None:
    grants = [frozenset(actions) for actions in ((), ("Admin",), ("ReadUsers",), ACTIONS[:2])]
    groups = [{}, *({GROUPS: frozenset(resources)} for resources in ("a", "b", "ab"))]
    tags: list[dict[FilterKey, frozenset[str]]] = [{}, {("portal", "tags"): frozenset("a")}]
    users = [ROOT] + [
        EffectivePermissions({"core": core, "portal": portal}, {**by_group, **by_tag})
        for core, portal, by_group, by_tag in product(grants, grants, groups, tags)
    ]
    possible = [list_possible_actions(user) for user in users]

    results = [[user.covers(other) for other in users] for user in users]

    assert results == [[other <= own for other in possible] for own in possible]
    assert len(users) ** 2 == 16_641


@given(any_user, namespaces, some_permissions)
def test_includes_agrees_with_the_oracle(
    user: EffectivePermissions, namespace: str, required: frozenset[str]
) -> None:
    granted = {
        action
        for where, action, *_ in list_possible_actions(replace(user, filters={}))
        if where == namespace
    }
    needed = set(ACTIONS) if "Admin" in required else required

    assert user.includes(namespace, required) is (needed <= granted)


@given(any_user, namespaces, some_filters)
def test_covers_filters_agrees_with_the_oracle(
    user: EffectivePermissions, namespace: str, filters: Filters
) -> None:
    own: Filters = {} if user.is_root else user.filters

    assert user.covers_filters(namespace, filters) is (
        list_visible_resources(namespace, filters) <= list_visible_resources(namespace, own)
    )


@given(any_user, any_user, any_user)
def test_covers_is_reflexive_and_transitive(
    user: EffectivePermissions, second: EffectivePermissions, third: EffectivePermissions
) -> None:
    assert user.covers(user)
    if user.covers(second) and second.covers(third):
        assert user.covers(third)


@given(subusers, any_user, namespaces, some_permissions)
def test_more_permissions_cover_more_and_are_harder_to_cover(
    user: EffectivePermissions, other: EffectivePermissions, namespace: str, more: frozenset[str]
) -> None:
    before = user.permissions.get(namespace, frozenset())
    extended = replace(user, permissions={**user.permissions, namespace: before | more})

    assert not user.covers(other) or extended.covers(other)
    assert not other.covers(extended) or other.covers(user)


@given(subusers, any_user, st.sampled_from(TYPES["portal"]), st.sampled_from(RESOURCES[:3]))
def test_wider_filters_cover_more_and_are_harder_to_cover(
    user: EffectivePermissions, other: EffectivePermissions, key: FilterKey, resource: str
) -> None:
    narrow = {**user.filters, key: user.filters.get(key, frozenset()) | {"b"}}
    wider = {**narrow, key: narrow[key] | {resource}}
    unfiltered = {name: value for name, value in narrow.items() if name != key}
    steps = [replace(user, filters=filters) for filters in (narrow, wider, unfiltered)]

    for less, more in ((steps[0], steps[1]), (steps[1], steps[2]), (steps[0], steps[2])):
        assert not less.covers(other) or more.covers(other)
        assert not other.covers(more) or other.covers(less)


@given(any_user, any_user, namespaces)
def test_only_root_covers_root(
    user: EffectivePermissions, other: EffectivePermissions, namespace: str
) -> None:
    assert ROOT.covers(user)
    assert ROOT.includes(namespace, frozenset({"Admin"}))
    assert ROOT.covers_filters(namespace, other.filters)
    assert user.covers(ROOT) is user.is_root


@pytest.mark.parametrize("namespace", NAMESPACES)
def test_an_empty_filter_counts_as_no_filter(namespace: str) -> None:
    """The database never has an empty filter; if it had one, it would not restrict anything."""
    user = EffectivePermissions({namespace: frozenset({"ReadUsers"})}, {GROUPS: frozenset("a")})
    other = EffectivePermissions({namespace: frozenset({"ReadUsers"})}, {GROUPS: frozenset()})

    assert not user.covers_filters(namespace, other.filters)
    assert not user.covers(other)
