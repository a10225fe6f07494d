"""A file is complete or absent: whatever fails meanwhile, the one before stays as it was."""

from __future__ import annotations

import pytest

from nimbill.database.embedded_postgres import Address
from nimbill.database.tenant_scope import TenantScope, transaction
from nimbill.invoicing.exports import records
from tests.answers import problem_of
from tests.customers.billing_groups.bodies import SOUND_SETTING
from tests.customers.billing_groups.stored import create
from tests.invoicing.exports.asking import GROUPS, SETTINGS, ask, content, download, file_of, link
from tests.invoicing.exports.failing_statements import TROUBLES, failing_at, full_disk
from tests.running_service import Service

STATEMENTS_MAX = 40  # a request that needs more is another one than was looked at here


def files(service: Service) -> int:
    organisation_id = service.organisation.organisation_id

    async def count() -> int:
        async with transaction(service.resources.engine, organisation_id) as db:
            found = await db.execute(records.exports.select())
            return len(found.all())

    return service.run(count)


def audit_rows(service: Service) -> int:
    answer = service.http.get("/m/core/audit", headers=service.root())
    return len(answer.json())


@pytest.fixture
def before(service: Service) -> str:
    """A link to a file, after which the groups have changed."""
    root = service.root()
    create(service, root, billinggroup_id="1", invoices={"aws": SOUND_SETTING})
    path = link(service)
    create(service, root, billinggroup_id="2", remarks="long " * 20_000)
    return path


@pytest.mark.parametrize("trouble", TROUBLES)
@pytest.mark.parametrize("redo", [False, True])
def test_a_failure_at_any_statement_leaves_the_file_before_as_it_was(
    service: Service, before: str, trouble: str, redo: bool
) -> None:
    """With `redo` true of the other kind of file, so that it has to be made as well."""
    address = SETTINGS if redo else GROUPS
    old, stored, audited = content(service, before), files(service), audit_rows(service)

    for number in range(1, STATEMENTS_MAX):
        with failing_at(service, number, TROUBLES[trouble]) as counted:
            answer = ask(service, address, {"redo": redo})
        if not counted.failed:
            break
        problem = problem_of(answer, 503)
        assert problem["code"] == "database_away"
        assert int(answer.headers["retry-after"]) > 0
        assert "path" not in answer.json()
        assert files(service) == stored, counted.statements
        assert audit_rows(service) == audited, counted.statements
        assert content(service, before) == old
        assert file_of(link(service, redo=True)) == file_of(before)
        audited += 1  # of asking for it just now

    assert number > 4, "the caller, the groups, the file, the audit row"
    assert any("INSERT INTO exports" in statement for statement in counted.statements)
    assert answer.status_code == 200
    assert files(service) == stored + 1
    assert content(service, answer.json()["path"])


def test_a_failure_while_a_file_is_read_serves_nothing_of_it(service: Service, before: str) -> None:
    whole = content(service, before)

    for number in range(1, STATEMENTS_MAX):
        with failing_at(service, number, TROUBLES["input or output error"]) as counted:
            answer = download(service, before)
        if not counted.failed:
            break
        assert problem_of(answer, 503)["code"] == "database_away"
        assert content(service, before) == whole

    assert number > 3
    assert answer.content == whole


@pytest.mark.parametrize("at_commit", [False, True])
def test_a_full_disk_is_answered_503_and_leaves_no_half_file(
    service: Service, before: str, superuser: Address, at_commit: bool
) -> None:
    old, stored = content(service, before), files(service)
    with full_disk(superuser, at_commit=at_commit):
        for _ in range(3):
            answer = ask(service, GROUPS, {"redo": False})
            assert problem_of(answer, 503)["code"] == "database_away"
            assert int(answer.headers["retry-after"]) > 0
            assert files(service) == stored
            assert content(service, before) == old
            assert content(service, link(service, redo=True)) == old

    new = content(service, link(service))

    assert len(new) > len(old)
    assert file_of(link(service, redo=True)) != file_of(before)


def test_a_file_is_seen_by_others_only_when_it_is_whole(service: Service, before: str) -> None:
    """What a transaction has not committed, nobody finds by `redo` or by its id."""
    organisation_id = service.organisation.organisation_id
    scope = TenantScope(organisation_id)

    async def half_way() -> tuple[str | None, str | None]:
        async with transaction(service.resources.engine, organisation_id) as db:
            await records.add_export(
                db,
                scope,
                export_id="exp_half",
                kind="billing-group",
                file_name="half.csv",
                content=b"half",
            )
            async with transaction(service.resources.engine, organisation_id) as other:
                seen = await records.newest_export(other, scope, "billing-group")
                found = await records.find_export(other, scope, "exp_half")
            await db.rollback()
            return seen, None if found is None else found.export_id

    seen, found = service.run(half_way)

    assert f"/d/{seen}" == file_of(before)
    assert found is None
