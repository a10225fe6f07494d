"""GET /m/core/billinggroup"""

from __future__ import annotations

import pytest

from nimbill.access.role_actions import RoleAction
from tests.customers.billing_groups.billing_groups import (
    PATH,
    add_project,
    create_billing_group,
    list_group_ids,
    read_billing_group,
)
from tests.customers.billing_groups.sample_bodies import FREE_FORMAT_ITEM, VALID_SETTING
from tests.customers.cloud_accounts.accounts import AZURE, add_account
from tests.problem_responses import read_violations
from tests.running_service import Service


@pytest.fixture(scope="module")
def five_groups(running: Service) -> dict[str, str]:
    """Headers of an organisation with the groups a to e, for tests that only read."""
    headers = running.root(running.new_organisation())
    for billinggroup_id in "badce":
        create_billing_group(running, headers, billinggroup_id=billinggroup_id)
    return headers


def test_the_list_of_an_organisation_without_groups_is_empty(service: Service) -> None:
    assert service.http.get(PATH, headers=service.root()).json() == []


def test_groups_are_ordered_by_billinggroup_id(service: Service) -> None:
    for billinggroup_id in ("b", "A", "a2", "さくら", "a10", "Z"):
        create_billing_group(service, service.root(), billinggroup_id=billinggroup_id)

    assert list_group_ids(service) == ["A", "Z", "a10", "a2", "b", "さくら"]


def test_groups_of_other_organisations_are_not_listed(service: Service) -> None:
    other = service.root(service.new_organisation())
    create_billing_group(service, service.root(), billinggroup_id="own")
    create_billing_group(service, other, billinggroup_id="foreign")

    assert list_group_ids(service) == ["own"]
    assert list_group_ids(service, other) == ["foreign"]


@pytest.mark.parametrize("action", [RoleAction.ReadBillingGroup, RoleAction.ModifyBillingGroup])
def test_a_restricted_caller_sees_only_the_groups_of_the_filter(
    service: Service, action: RoleAction
) -> None:
    visible = [
        create_billing_group(service, service.root(), billinggroup_id=f"visible-{number}")
        for number in range(2)
    ]
    create_billing_group(service, service.root(), billinggroup_id="hidden")

    restricted = service.caller(action, billing_groups=visible)

    assert list_group_ids(service, restricted) == ["visible-0", "visible-1"]
    assert list_group_ids(service, service.caller(action)) == ["hidden", "visible-0", "visible-1"]


def test_a_filter_on_unknown_and_foreign_groups_shows_nothing(service: Service) -> None:
    other = service.root(service.new_organisation())
    create_billing_group(service, service.root(), billinggroup_id="own")
    foreign = create_billing_group(service, other, billinggroup_id="foreign")

    restricted = service.caller(
        RoleAction.ReadBillingGroup, billing_groups=[foreign, "cmp_unknown"]
    )

    assert list_group_ids(service, restricted) == []


def test_each_group_has_its_own_settings_and_project(service: Service) -> None:
    add_project(service, "prj_one")
    usd = {"aws": VALID_SETTING | {"currency": "usd"}}
    both = {"aws": VALID_SETTING, "azure": VALID_SETTING}
    root = service.root()
    create_billing_group(service, root, billinggroup_id="1", invoices=usd, project_id="prj_one")
    create_billing_group(service, root, billinggroup_id="2", invoices=both)
    create_billing_group(service, root, billinggroup_id="3")

    records = service.http.get(PATH, headers=root).json()

    assert [record["invoices"] for record in records] == [usd, both, {}]
    assert [record["project_code"] for record in records] == ["code of prj_one", None, None]


def test_the_list_and_the_details_show_the_same_record(service: Service) -> None:
    company_id = create_billing_group(
        service, service.root(), billinggroup_id="1", invoices={"aws": VALID_SETTING}
    )

    (record,) = service.http.get(PATH, headers=service.root()).json()

    assert record == read_billing_group(service, company_id)


def test_each_group_has_its_own_accounts_ordered_by_vendor_and_id(service: Service) -> None:
    root = service.root()
    first, second, _ = [create_billing_group(service, root, billinggroup_id=id_) for id_ in "123"]
    add_account(service, second, customer_id="000000000002", name="two")
    add_account(service, first, **AZURE)
    add_account(service, first, customer_id="000000000003", name="three")
    add_account(service, first, customer_id="000000000001", name="one")

    records = service.http.get(PATH, headers=root).json()

    def account(customer_id: str, customer_name: str, vendor: str = "aws") -> dict[str, str]:
        return {"customer_id": customer_id, "customer_name": customer_name, "vendor": vendor}

    assert [record["account"] for record in records] == [
        [
            account("000000000001", "one"),
            account("000000000003", "three"),
            account(AZURE["customer_id"], AZURE["name"], "azure"),
        ],
        [account("000000000002", "two")],
        [],
    ]


def test_each_group_has_its_own_free_format_items_by_vendor(service: Service) -> None:
    root = service.root()
    first, second, _ = [create_billing_group(service, root, billinggroup_id=id_) for id_ in "123"]
    items = {
        (first, "azure"): [FREE_FORMAT_ITEM | {"label": "b"}, FREE_FORMAT_ITEM | {"label": "a"}],
        (first, "aws"): [FREE_FORMAT_ITEM],
        (second, "aws"): [FREE_FORMAT_ITEM | {"label": "second"}],
    }
    for (company_id, vendor), additional_items in items.items():
        path = f"{PATH}/{company_id}/freeformat/{vendor}"
        service.http.post(path, json={"additional_items": additional_items}, headers=root)

    records = service.http.get(PATH, headers=root).json()

    assert [record["additional_items"] for record in records] == [
        {"aws": items[first, "aws"], "azure": items[first, "azure"]},
        {"aws": items[second, "aws"]},
        {},
    ]


# ── limit and offset ─────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", "abcde"),
        ("?limit=2", "ab"),
        ("?limit=2&offset=2", "cd"),
        ("?limit=2&offset=4", "e"),
        ("?offset=3", "de"),
        ("?offset=5", ""),
        ("?offset=10000000", ""),
        ("?limit=5", "abcde"),
        ("?limit=10000&offset=0", "abcde"),
    ],
)
def test_a_page_is_a_part_of_the_list(
    running: Service, five_groups: dict[str, str], query: str, expected: str
) -> None:
    complete = running.http.get(PATH, headers=five_groups).json()

    page = running.http.get(PATH + query, headers=five_groups).json()

    assert [record["billinggroup_id"] for record in complete] == list("abcde")
    assert page == [record for record in complete if record["billinggroup_id"] in expected]


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("limit=0", "limit"),
        ("limit=-1", "limit"),
        ("limit=10001", "limit"),
        ("limit=", "limit"),
        ("limit=all", "limit"),
        ("limit=1.5", "limit"),
        ("limit=%EF%BC%91", "limit"),
        ("limit=99999999999999999999", "limit"),
        ("offset=-1", "offset"),
        ("offset=10000001", "offset"),
        ("offset=", "offset"),
        ("limit=1&offset=x", "offset"),
    ],
)
def test_an_invalid_limit_or_offset_is_refused(
    running: Service, five_groups: dict[str, str], query: str, field: str
) -> None:
    response = running.http.get(f"{PATH}?{query}", headers=five_groups)

    ranges = {"limit": "1 to 10000", "offset": "0 to 10000000"}
    assert read_violations(response) == [(field, f"a whole number from {ranges[field]}")]


def test_limit_and_offset_count_visible_groups_only(service: Service) -> None:
    groups = [create_billing_group(service, service.root(), billinggroup_id=id_) for id_ in "abcd"]
    restricted = service.caller(RoleAction.ReadBillingGroup, billing_groups=[groups[1], groups[3]])

    pages = [
        service.http.get(f"{PATH}?limit=1&offset={offset}", headers=restricted).json()
        for offset in range(3)
    ]

    ids = [[record["billinggroup_id"] for record in page] for page in pages]
    assert ids == [["b"], ["d"], []]
