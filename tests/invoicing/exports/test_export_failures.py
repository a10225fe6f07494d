"""Failures while exporting: a file is stored completely or not at all."""

from __future__ import annotations

import pytest

from nimbill.database.embedded_postgres import Address
from nimbill.database.tenant_scope import TenantScope, transaction
from nimbill.invoicing.exports import records
from tests.customers.billing_groups.billing_groups import create_billing_group
from tests.customers.billing_groups.sample_bodies import VALID_SETTING
from tests.invoicing.exports.export_requests import (
    GROUPS,
    SETTINGS,
    create_link,
    download_content,
    download_file,
    file_path,
    request_export,
)
from tests.invoicing.exports.failing_statements import SQLSTATES, failing_at, full_disk
from tests.problem_responses import read_problem
from tests.running_service import Service

STATEMENTS_MAX = 40  # a request that needs more is another one than was looked at here


def files(service: Service) -> int:
    organisation_id = service.organisation.organisation_id

    async def count() -> int:
        async with transaction(service.resources.engine, organisation_id) as db:
            found = await db.execute(records.exports.select())
            return len(found.all())

    return service.run(count)


TEXTS = ("billinggroup_name", "company_name", "address", "personal", "billing_title", "remarks")


def audit_rows(service: Service) -> int:
    response = service.http.get("/m/core/audit", headers=service.root())
    return len(response.json())


@pytest.fixture
def before(service: Service) -> str:
    """A link to a file, after which the groups have changed."""
    root = service.root()
    create_billing_group(service, root, billinggroup_id="1", invoices={"aws": VALID_SETTING})
    path = create_link(service)
    create_billing_group(
        service, root, billinggroup_id="2", **dict.fromkeys(TEXTS, "long " * 2_000)
    )
    return path


@pytest.mark.parametrize("trouble", SQLSTATES)
@pytest.mark.parametrize("redo", [False, True])
def test_a_failure_at_any_statement_keeps_the_previous_file(
    service: Service, before: str, trouble: str, redo: bool
) -> None:
    """With `redo` the other kind of file is requested, so that it has to be created as well."""
    address = SETTINGS if redo else GROUPS
    old, stored, audited = download_content(service, before), files(service), audit_rows(service)

    for number in range(1, STATEMENTS_MAX):
        with failing_at(service, number, SQLSTATES[trouble]) as counted:
            response = request_export(service, address, {"redo": redo})
        if not counted.failed:
            break
        problem = read_problem(response, 503)
        assert problem["code"] == "database_away"
        assert int(response.headers["retry-after"]) > 0
        assert "path" not in response.json()
        assert files(service) == stored, counted.statements
        assert audit_rows(service) == audited, counted.statements
        assert download_content(service, before) == old
        assert file_path(create_link(service, redo=True)) == file_path(before)
        audited += 1  # of asking for it just now

    assert number > 4, "the caller, the groups, the file, the audit row"
    assert any("INSERT INTO exports" in statement for statement in counted.statements)
    assert response.status_code == 200
    assert files(service) == stored + 1
    assert download_content(service, response.json()["path"])


def test_a_failure_while_reading_returns_no_part_of_the_file(service: Service, before: str) -> None:
    whole = download_content(service, before)

    for number in range(1, STATEMENTS_MAX):
        with failing_at(service, number, SQLSTATES["input or output error"]) as counted:
            response = download_file(service, before)
        if not counted.failed:
            break
        assert read_problem(response, 503)["code"] == "database_away"
        assert download_content(service, before) == whole

    assert number > 3
    assert response.content == whole


@pytest.mark.parametrize("at_commit", [False, True])
def test_a_full_disk_returns_503_and_stores_no_partial_file(
    service: Service, before: str, superuser: Address, at_commit: bool
) -> None:
    old, stored = download_content(service, before), files(service)
    with full_disk(superuser, at_commit=at_commit):
        for _ in range(3):
            response = request_export(service, GROUPS, {"redo": False})
            assert read_problem(response, 503)["code"] == "database_away"
            assert int(response.headers["retry-after"]) > 0
            assert files(service) == stored
            assert download_content(service, before) == old
            assert download_content(service, create_link(service, redo=True)) == old

    new = download_content(service, create_link(service))

    assert len(new) > len(old)
    assert file_path(create_link(service, redo=True)) != file_path(before)


def test_an_uncommitted_file_is_not_visible(service: Service, before: str) -> None:
    """Neither `redo` nor the id finds a file of an uncommitted transaction."""
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
                seen = await records.find_newest_export(other, scope, "billing-group")
                found = await records.find_export(other, scope, "exp_half")
            await db.rollback()
            return seen, None if found is None else found.export_id

    seen, found = service.run(half_way)

    assert f"/d/{seen}" == file_path(before)
    assert found is None
