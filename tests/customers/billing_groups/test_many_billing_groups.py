"""Ten thousand groups with fifty thousand accounts: lists ask as many questions as for a few."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import sqlalchemy as sa

from nimbill.access.role_actions import RoleAction
from nimbill.database.embedded_postgres import Address
from nimbill.database.tenant_scope import transaction
from nimbill.identity.organisations.operations import NewOrganisation
from tests.customers.billing_groups.stored import PATH
from tests.customers.cloud_accounts.accounts import PATH as ACCOUNTS
from tests.own_database import sql_script
from tests.running_service import Service

FILL = (
    """
    INSERT INTO billing_groups (organisation_id, company_id, billinggroup_id, billinggroup_name,
        company_name, inv_aggregate)
    SELECT :organisation_id, 'cmp_' || number, 'BG-' || lpad(number::text, 6, '0'), 'name',
        'company', true
    FROM generate_series(1, :groups) AS number
    """,
    """
    INSERT INTO cloud_accounts (organisation_id, customer_id, vendor, account_id, company_id, name)
    SELECT :organisation_id, lpad(number::text, 12, '0'), 'aws', '000000000000',
        'cmp_' || 1 + (number - 1) % :groups, 'account'
    FROM generate_series(1, :groups * 5) AS number
    """,
    """
    INSERT INTO free_format_items (organisation_id, company_id, vendor, position, enabled, label,
        unit_cost, quantity, total)
    SELECT :organisation_id, 'cmp_' || number, 'aws', 0, true, 'item', 1, 1, 1
    FROM generate_series(1, :groups) AS number
    """,
)


def filled(service: Service, groups: int) -> NewOrganisation:
    """An organisation of its own with so many groups, five accounts and one item for each."""
    who = service.new_organisation()

    async def fill() -> None:
        async with transaction(service.resources.engine, who.organisation_id) as db:
            for statement in FILL:
                asked = {"organisation_id": who.organisation_id, "groups": groups}
                await db.execute(sa.text(statement), asked)

    service.run(fill)
    return who


# what a list is read from; work that runs beside it asks other tables
READ = re.compile(r"\bFROM (billing_groups|invoice_settings|free_format_items|cloud_accounts)\b")


@contextmanager
def questions(service: Service) -> Iterator[list[str]]:
    """Every question that is asked of these tables meanwhile."""
    asked: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_rest: object) -> None:
        if READ.search(statement):
            asked.append(statement)

    engine = service.resources.engine.sync_engine
    sa.event.listen(engine, "before_cursor_execute", note)
    try:
        yield asked
    finally:
        sa.event.remove(engine, "before_cursor_execute", note)


@pytest.fixture(scope="module")
def few(running: Service) -> NewOrganisation:
    return filled(running, 2)


@pytest.fixture(scope="module")
def many(running: Service, postgres: Address) -> NewOrganisation:
    """New to the database, whose statistics know of others alone."""
    filled(running, 2)
    sql_script(postgres, "ANALYZE billing_groups, cloud_accounts, free_format_items")
    return filled(running, 10_000)


def test_the_list_of_groups_is_whole_and_asks_no_more_than_for_two(
    running: Service, many: NewOrganisation, few: NewOrganisation
) -> None:
    with questions(running) as for_few:
        assert len(running.http.get(PATH, headers=running.root(few)).json()) == 2
    with questions(running) as for_many:
        answer = running.http.get(PATH, headers=running.root(many))

    records = answer.json()
    assert len(records) == 10_000
    assert sum(len(record["account"]) for record in records) == 50_000
    assert {len(record["additional_items"]["aws"]) for record in records} == {1}
    assert [record["billinggroup_id"] for record in records] == [
        f"BG-{number:06d}" for number in range(1, 10_001)
    ]
    assert for_many == for_few
    assert len(for_many) == 4  # groups, settings, items, accounts


def test_the_list_of_accounts_is_whole_and_asks_no_more_than_for_ten(
    running: Service, many: NewOrganisation, few: NewOrganisation
) -> None:
    path = f"{ACCOUNTS}?vendor=aws"
    with questions(running) as for_few:
        assert len(running.http.get(path, headers=running.root(few)).json()) == 10
    with questions(running) as for_many:
        answer = running.http.get(path, headers=running.root(many))

    assert len(answer.json()) == 50_000
    assert for_many == for_few
    assert len(for_many) == 1


def test_a_page_is_cut_where_it_says(running: Service, many: NewOrganisation) -> None:
    headers = running.root(many)

    for offset, last in ((0, 100), (5_000, 5_100), (9_950, 10_000), (10_000, 10_000)):
        page = running.http.get(f"{PATH}?limit=100&offset={offset}", headers=headers).json()
        assert [record["billinggroup_id"] for record in page] == [
            f"BG-{number:06d}" for number in range(offset + 1, last + 1)
        ]


def test_a_narrowed_caller_asks_no_more(running: Service, many: NewOrganisation) -> None:
    seen = [f"cmp_{number}" for number in (7, 10_000)]
    narrowed = running.caller(
        RoleAction.ReadBillingGroup, organisation=many, billing_groups=[*seen, "cmp_10001"]
    )

    with questions(running) as asked:
        records = running.http.get(PATH, headers=narrowed).json()

    assert [record["company_id"] for record in records] == seen
    assert [len(record["account"]) for record in records] == [5, 5]
    assert len(asked) == 4
