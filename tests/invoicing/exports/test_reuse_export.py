"""The field `redo`: true returns the existing file, false creates a new one."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.role_actions import RoleAction
from nimbill.database.tenant_scope import TenantScope, transaction
from nimbill.foundation import clock
from nimbill.invoicing.exports import operations, records
from nimbill.invoicing.exports.bodies import ExportRequest
from tests.body_violations import find_body_violations
from tests.customers.billing_groups.billing_groups import create_billing_group
from tests.held_locks import call_while_locked
from tests.invoicing.exports.export_requests import (
    GROUPS,
    SETTINGS,
    create_link,
    download_content,
    file_path,
    parse_rows,
    request_export,
)
from tests.problem_responses import read_problem, read_violations
from tests.running_service import Service
from tests.subusers import create_subuser, run_concurrently

either = pytest.mark.parametrize("address", [GROUPS, SETTINGS])


def names(service: Service, path: str) -> list[str]:
    return [row[0] for row in parse_rows(download_content(service, path))[1:]]


@either
def test_redo_false_always_creates_a_new_file(service: Service, address: str) -> None:
    files = {file_path(create_link(service, address, redo=False)) for _ in range(3)}

    assert len(files) == 3


@either
def test_redo_true_creates_the_first_file(service: Service, address: str) -> None:
    path = create_link(service, address, redo=True)

    assert download_content(service, path)


@either
def test_redo_true_returns_the_existing_file_even_if_the_groups_have_changed(
    service: Service, address: str
) -> None:
    first = create_link(service, address)
    before = download_content(service, first)
    create_billing_group(service, service.root(), billinggroup_id="new")

    again = create_link(service, address, redo=True)

    assert file_path(again) == file_path(first)
    assert download_content(service, again) == before


def test_redo_true_returns_the_newest_file(service: Service) -> None:
    create_link(service)
    create_billing_group(service, service.root(), billinggroup_id="1")
    newest = create_link(service)

    assert file_path(create_link(service, redo=True)) == file_path(newest)
    assert names(service, create_link(service, redo=True)) == ["1"]


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        ({}, "required"),
        ({"redo": None}, "required"),
        ({"redo": "true"}, "true or false"),
        ({"redo": 1}, "true or false"),
        ({"redo": 0}, "true or false"),
        ({"redo": []}, "true or false"),
        ({"redo": {}}, "true or false"),
        ({"Redo": True}, "required"),
    ],
)
def test_redo_is_required_and_a_boolean(body: Any, rule: str) -> None:
    assert find_body_violations(ExportRequest, body) == [("redo", rule)]


@either
def test_an_invalid_body_is_refused(service: Service, address: str) -> None:
    missing = service.http.post(address, headers=service.root())

    assert read_problem(missing, 400)["code"] == "rule_broken"
    assert read_violations(request_export(service, address, {})) == [("redo", "required")]
    assert read_violations(request_export(service, address, [True])) == [("body", "an object")]


@either
def test_unknown_fields_are_ignored(service: Service, address: str) -> None:
    assert request_export(service, address, {"redo": False, "month": "2026-01"}).status_code == 200


# ── audience of a file ────────────────────────────────────────────────────────────────────────────


def test_a_restricted_user_never_gets_the_file_of_the_whole_organisation(service: Service) -> None:
    seen = create_billing_group(service, service.root(), billinggroup_id="seen")
    create_billing_group(service, service.root(), billinggroup_id="hidden")
    whole = create_link(service)
    restricted = service.caller(RoleAction.ReadBillingGroup, billing_groups=[seen])

    own = create_link(service, headers=restricted, redo=True)

    assert file_path(own) != file_path(whole)
    assert names(service, own) == ["seen"]


def test_an_unrestricted_user_never_gets_the_file_of_a_restricted_user(service: Service) -> None:
    seen = create_billing_group(service, service.root(), billinggroup_id="seen")
    create_billing_group(service, service.root(), billinggroup_id="hidden")
    restricted = service.caller(RoleAction.ReadBillingGroup, billing_groups=[seen])
    create_link(service, headers=restricted)

    assert names(service, create_link(service, redo=True)) == ["hidden", "seen"]


def test_users_restricted_to_different_groups_have_different_files(service: Service) -> None:
    one, two = (
        create_billing_group(service, service.root(), billinggroup_id=name) for name in "12"
    )
    of_one, of_two, of_both = (
        service.caller(RoleAction.ReadBillingGroup, billing_groups=groups)
        for groups in ([one], [two], [two, one])
    )

    found = [
        names(service, create_link(service, headers=who, redo=True))
        for who in (of_one, of_two, of_both)
    ]

    assert found == [["1"], ["2"], ["1", "2"]]


def test_users_restricted_to_the_same_groups_share_a_file(service: Service) -> None:
    one, two = (
        create_billing_group(service, service.root(), billinggroup_id=name) for name in "12"
    )
    first = service.caller(RoleAction.ReadBillingGroup, billing_groups=[one, two])
    second = service.caller(RoleAction.ModifyBillingGroup, billing_groups=[two, one])

    made = create_link(service, headers=first)

    assert file_path(create_link(service, headers=second, redo=True)) == file_path(made)


@pytest.mark.parametrize("word", ["*", "null", "", "[]", "None"])
def test_no_filter_value_stands_for_all_groups(service: Service, word: str) -> None:
    """A filter may contain any text; none of them means the whole organisation."""
    create_billing_group(service, service.root(), billinggroup_id="hidden")
    create_link(service)
    odd = create_subuser(
        service,
        core=[RoleAction.ReadBillingGroup],
        filters=[("core", "billingGroup", word or " ")],
    )

    assert names(service, create_link(service, headers=odd.core, redo=True)) == []


def test_different_sets_of_groups_have_different_hashes(service: Service) -> None:
    sets = [
        None,
        [],
        ["a"],
        ["a", "b"],
        ["a\nb"],
        ["a,b"],
        ['a", "b'],
        ["a", "b", "c"],
        ["a b"],
        ["*"],
        ["null"],
        ["[]"],
    ]

    prints = {
        records.hash_visible_groups(TenantScope("o", None if names is None else frozenset(names)))
        for names in sets
    }

    assert len(prints) == len(sets)


def test_the_file_of_another_organisation_is_not_found(service: Service) -> None:
    other = service.new_organisation()
    create_billing_group(service, service.root(other), billinggroup_id="theirs")
    theirs = create_link(service, headers=service.root(other))

    mine = create_link(service, redo=True)

    assert file_path(mine) != file_path(theirs)
    assert names(service, mine) == []


def test_concurrent_requests_all_get_a_complete_file(service: Service) -> None:
    create_billing_group(service, service.root(), billinggroup_id="1")
    root = service.root()

    paths = run_concurrently([lambda: create_link(service, headers=root, redo=True)] * 8)

    assert [names(service, path) for path in paths] == [["1"]] * 8


# ── deletion of old files ─────────────────────────────────────────────────────────────────────────


def forget(service: Service, *, days: int) -> None:
    organisation_id = service.organisation.organisation_id

    async def do() -> None:
        async with transaction(service.resources.engine, organisation_id) as db:
            await records.delete_old_exports(db, TenantScope(organisation_id), days=days)

    service.run(do)


def test_old_files_are_deleted_except_the_newest_of_each_kind(service: Service) -> None:
    seen = create_billing_group(service, service.root(), billinggroup_id="1")
    restricted = service.caller(RoleAction.ReadBillingGroup, billing_groups=[seen])
    old = [
        create_link(service),
        create_link(service, SETTINGS),
        create_link(service, headers=restricted),
    ]
    newest = [
        create_link(service),
        create_link(service, SETTINGS),
        create_link(service, headers=restricted),
    ]

    forget(service, days=1)
    assert [service.http.get(path).status_code for path in (*old, *newest)] == [200] * 6

    forget(service, days=0)
    assert [service.http.get(path).status_code for path in (*old, *newest)] == [404] * 3 + [200] * 3
    assert file_path(create_link(service, redo=True)) == file_path(newest[0])


# ── limits on stored files ────────────────────────────────────────────────────────────────────────


def age_files(service: Service, *, minutes: int) -> None:
    organisation_id = service.organisation.organisation_id

    async def do() -> None:
        async with transaction(service.resources.engine, organisation_id) as db:
            created_at = records.exports.c.create_time - timedelta(minutes=minutes)
            await db.execute(sa.update(records.exports).values(create_time=created_at))

    service.run(do)


def count_files(service: Service) -> int:
    organisation_id = service.organisation.organisation_id

    async def do() -> int:
        async with transaction(service.resources.engine, organisation_id) as db:
            stmt = sa.select(sa.func.count()).select_from(records.exports)
            return int((await db.execute(stmt)).scalar_one())

    return service.run(do)


def test_a_new_file_replaces_the_oldest_beyond_the_limit(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(operations, "FILES_MAX", 3)
    for _ in range(3):
        create_link(service)
        age_files(service, minutes=11)

    newest = create_link(service)

    assert count_files(service) == 3
    assert service.http.get(newest).status_code == 200


def test_files_that_are_being_stored_count_towards_the_limit(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(operations, "FILES_MAX", 1)

    async def store(db: AsyncConnection, scope: TenantScope) -> None:
        await records.add_export(
            db, scope, export_id="exp_1", kind="billing_group", file_name="a.csv", content=b"a"
        )
        await records.delete_surplus_exports(
            db, scope, files_max=1, bytes_max=10, before=clock.now()
        )

    outcome = call_while_locked(
        service, store, lambda: request_export(service, GROUPS, {"redo": False})
    )

    assert outcome.waited
    assert read_problem(outcome.result, 429)["code"] == "too_many_exports"
    assert count_files(service) == 1


def test_files_whose_links_are_valid_are_not_replaced(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(operations, "FILES_MAX", 2)
    links = [create_link(service), create_link(service, SETTINGS)]

    problem = read_problem(request_export(service, GROUPS, {"redo": False}), 429)

    assert problem["code"] == "too_many_exports"
    assert "At most 2 exported files" in problem["detail"]
    assert [service.http.get(link).status_code for link in links] == [200, 200]
    assert count_files(service) == 2

    age_files(service, minutes=11)
    create_link(service)
    assert count_files(service) == 2


def test_the_size_of_all_files_is_limited_but_not_of_one(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(operations, "FILE_BYTES_MAX", 10)
    create_link(service)

    assert read_problem(request_export(service, GROUPS, {"redo": False}), 429)

    age_files(service, minutes=11)
    create_link(service)
    assert count_files(service) == 1


def test_files_of_other_organisations_are_neither_counted_nor_deleted(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(operations, "FILES_MAX", 1)
    theirs = create_link(service)
    service.organisation = service.new_organisation()

    mine = create_link(service)

    assert [service.http.get(link).status_code for link in (theirs, mine)] == [200, 200]
