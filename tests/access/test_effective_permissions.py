"""Whether one may do all that another may, by an oracle that writes down every single thing."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nimbill.access.effective_permissions import ROOT, EffectivePermissions, FilterKey
from tests.access.everything_doable import (
    ACTIONS,
    GROUPS,
    NAMESPACES,
    RESOURCES,
    TYPES,
    Filters,
    doable,
    seen,
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
anybody = st.one_of(subusers, st.just(ROOT))
namespaces = st.sampled_from(NAMESPACES)


@settings(max_examples=400)
@given(anybody, anybody)
def test_one_covers_another_when_he_can_do_all_the_other_can(
    one: EffectivePermissions, other: EffectivePermissions
) -> None:
    assert one.cover(other) is (doable(other) <= doable(one))


def test_every_pair_of_a_small_world_is_judged_as_the_oracle_does() -> None:
    held = [frozenset(one) for one in ((), ("Admin",), ("ReadUsers",), ACTIONS[:2])]
    groups = [{}, *({GROUPS: frozenset(one)} for one in ("a", "b", "ab"))]
    tags: list[dict[FilterKey, frozenset[str]]] = [{}, {("portal", "tags"): frozenset("a")}]
    world = [ROOT] + [
        EffectivePermissions({"core": core, "portal": portal}, {**by_group, **by_tag})
        for core, portal, by_group, by_tag in product(held, held, groups, tags)
    ]
    can = [doable(one) for one in world]

    judged = [[one.cover(other) for other in world] for one in world]

    assert judged == [[theirs <= mine for theirs in can] for mine in can]
    assert len(world) ** 2 == 16_641


@given(anybody, namespaces, some_permissions)
def test_one_allows_what_he_holds(
    one: EffectivePermissions, namespace: str, wanted: frozenset[str]
) -> None:
    can = {action for where, action, *_ in doable(replace(one, filters={})) if where == namespace}
    needed = set(ACTIONS) if "Admin" in wanted else wanted

    assert one.allow(namespace, wanted) is (needed <= can)


@given(anybody, namespaces, some_filters)
def test_one_reaches_what_his_own_filters_show(
    one: EffectivePermissions, namespace: str, filters: Filters
) -> None:
    own: Filters = {} if one.is_root else one.filters

    assert one.reach(namespace, filters) is (seen(namespace, filters) <= seen(namespace, own))


@given(anybody, anybody, anybody)
def test_who_covers_one_who_covers_another_covers_that_one_too(
    one: EffectivePermissions, two: EffectivePermissions, three: EffectivePermissions
) -> None:
    assert one.cover(one)
    if one.cover(two) and two.cover(three):
        assert one.cover(three)


@given(subusers, anybody, namespaces, some_permissions)
def test_more_permissions_never_cover_less_and_are_never_easier_to_cover(
    one: EffectivePermissions, other: EffectivePermissions, namespace: str, more: frozenset[str]
) -> None:
    before = one.permissions.get(namespace, frozenset())
    grown = replace(one, permissions={**one.permissions, namespace: before | more})

    assert not one.cover(other) or grown.cover(other)
    assert not other.cover(grown) or other.cover(one)


@given(subusers, anybody, st.sampled_from(TYPES["portal"]), st.sampled_from(RESOURCES[:3]))
def test_wider_filters_never_cover_less_and_are_never_easier_to_cover(
    one: EffectivePermissions, other: EffectivePermissions, key: FilterKey, resource: str
) -> None:
    narrow = {**one.filters, key: one.filters.get(key, frozenset()) | {"b"}}
    wider = {**narrow, key: narrow[key] | {resource}}
    none_of_it = {name: value for name, value in narrow.items() if name != key}
    steps = [replace(one, filters=filters) for filters in (narrow, wider, none_of_it)]

    for less, more in ((steps[0], steps[1]), (steps[1], steps[2]), (steps[0], steps[2])):
        assert not less.cover(other) or more.cover(other)
        assert not other.cover(more) or other.cover(less)


@given(anybody, anybody, namespaces)
def test_root_covers_all_and_is_covered_by_root_alone(
    one: EffectivePermissions, other: EffectivePermissions, namespace: str
) -> None:
    assert ROOT.cover(one)
    assert ROOT.allow(namespace, frozenset({"Admin"}))
    assert ROOT.reach(namespace, other.filters)
    assert one.cover(ROOT) is one.is_root


@pytest.mark.parametrize("namespace", NAMESPACES)
def test_an_empty_filter_of_anothers_is_none_and_never_inside_ones_own(namespace: str) -> None:
    """Nobody has one; if ever somebody had, it would be taken for no filter at all."""
    mine = EffectivePermissions({namespace: frozenset({"ReadUsers"})}, {GROUPS: frozenset("a")})
    theirs = EffectivePermissions({namespace: frozenset({"ReadUsers"})}, {GROUPS: frozenset()})

    assert not mine.reach(namespace, theirs.filters)
    assert not mine.cover(theirs)
