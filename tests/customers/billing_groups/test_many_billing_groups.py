"""Lists of 10,000 groups with 50,000 accounts need as many queries as lists of a few.

The first test takes several seconds: it stores and reads the complete list over HTTP.
"""

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
from tests.customers.billing_groups.billing_groups import PATH
from tests.customers.cloud_accounts.accounts import PATH as ACCOUNTS
from tests.running_service import Service
from tests.temporary_database import execute_script

INSERT_STATEMENTS = (
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


def create_organisation_with_groups(service: Service, groups: int) -> NewOrganisation:
    """Each group has five accounts and one free format item."""
    organisation = service.new_organisation()

    async def insert() -> None:
        async with transaction(service.resources.engine, organisation.organisation_id) as db:
            for statement in INSERT_STATEMENTS:
                parameters = {"organisation_id": organisation.organisation_id, "groups": groups}
                await db.execute(sa.text(statement), parameters)

    service.run(insert)
    return organisation


# the tables that lists are read from; background jobs query other tables
LISTED_TABLES = re.compile(
    r"\bFROM (billing_groups|invoice_settings|free_format_items|cloud_accounts)\b"
)


@contextmanager
def record_queries(service: Service) -> Iterator[list[str]]:
    """Record every query on the listed tables."""
    queries: list[str] = []

    def record(_connection: object, _cursor: object, statement: str, *_rest: object) -> None:
        if LISTED_TABLES.search(statement):
            queries.append(statement)

    engine = service.resources.engine.sync_engine
    sa.event.listen(engine, "before_cursor_execute", record)
    try:
        yield queries
    finally:
        sa.event.remove(engine, "before_cursor_execute", record)


@pytest.fixture(scope="module")
def few(running: Service) -> NewOrganisation:
    return create_organisation_with_groups(running, 2)


@pytest.fixture(scope="module")
def many(running: Service, postgres: Address) -> NewOrganisation:
    """A new organisation: the statistics of the database only know others."""
    create_organisation_with_groups(running, 2)
    execute_script(postgres, "ANALYZE billing_groups, cloud_accounts, free_format_items")
    return create_organisation_with_groups(running, 10_000)


def test_the_list_of_groups_is_complete_and_needs_four_queries(
    running: Service, many: NewOrganisation, few: NewOrganisation
) -> None:
    with record_queries(running) as few_queries:
        assert len(running.http.get(PATH, headers=running.root(few)).json()) == 2
    with record_queries(running) as many_queries:
        response = running.http.get(PATH, headers=running.root(many))

    records = response.json()
    assert len(records) == 10_000
    assert sum(len(record["account"]) for record in records) == 50_000
    assert {len(record["additional_items"]["aws"]) for record in records} == {1}
    assert [record["billinggroup_id"] for record in records] == [
        f"BG-{number:06d}" for number in range(1, 10_001)
    ]
    assert many_queries == few_queries
    assert len(many_queries) == 4  # groups, settings, items, accounts


def test_the_list_of_accounts_is_complete_and_needs_two_queries(
    running: Service, many: NewOrganisation, few: NewOrganisation
) -> None:
    path = f"{ACCOUNTS}?vendor=aws"
    with record_queries(running) as few_queries:
        assert len(running.http.get(path, headers=running.root(few)).json()) == 10
    with record_queries(running) as many_queries:
        response = running.http.get(path, headers=running.root(many))

    assert len(response.json()) == 50_000
    assert many_queries == few_queries
    assert len(many_queries) == 2  # accounts, groups


def test_limit_and_offset_select_a_page(running: Service, many: NewOrganisation) -> None:
    headers = running.root(many)

    for offset, last in ((0, 100), (5_000, 5_100), (9_950, 10_000), (10_000, 10_000)):
        page = running.http.get(f"{PATH}?limit=100&offset={offset}", headers=headers).json()
        assert [record["billinggroup_id"] for record in page] == [
            f"BG-{number:06d}" for number in range(offset + 1, last + 1)
        ]


def test_the_list_of_a_restricted_caller_needs_four_queries(
    running: Service, many: NewOrganisation
) -> None:
    visible = [f"cmp_{number}" for number in (7, 10_000)]
    restricted = running.caller(
        RoleAction.ReadBillingGroup, organisation=many, billing_groups=[*visible, "cmp_10001"]
    )

    with record_queries(running) as queries:
        records = running.http.get(PATH, headers=restricted).json()

    assert [record["company_id"] for record in records] == visible
    assert [len(record["account"]) for record in records] == [5, 5]
    assert len(queries) == 4
