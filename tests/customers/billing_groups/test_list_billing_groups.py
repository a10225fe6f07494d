"""GET /m/core/billinggroup"""

from __future__ import annotations

import pytest

from nimbill.access.role_actions import RoleAction
from tests.answers import violations_of
from tests.customers.billing_groups.bodies import SOUND_SETTING
from tests.customers.billing_groups.stored import PATH, add_project, create
from tests.customers.billing_groups.test_free_format import ITEM
from tests.customers.cloud_accounts.accounts import AZURE, add_account
from tests.running_service import Service


@pytest.fixture(scope="module")
def five_groups(running: Service) -> dict[str, str]:
    """Headers of an organisation whose groups a to e are only looked at."""
    headers = running.root(running.new_organisation())
    for billinggroup_id in "badce":
        create(running, headers, billinggroup_id=billinggroup_id)
    return headers


def ids(service: Service, headers: dict[str, str]) -> list[str]:
    answer = service.http.get(PATH, headers=headers)
    assert answer.status_code == 200
    return [record["billinggroup_id"] for record in answer.json()]


def test_an_organisation_without_groups_has_an_empty_list(service: Service) -> None:
    assert service.http.get(PATH, headers=service.root()).json() == []


def test_groups_come_by_their_id(service: Service) -> None:
    for billinggroup_id in ("b", "A", "a2", "さくら", "a10", "Z"):
        create(service, service.root(), billinggroup_id=billinggroup_id)

    assert ids(service, service.root()) == ["A", "Z", "a10", "a2", "b", "さくら"]


def test_only_groups_of_ones_own_organisation_are_listed(service: Service) -> None:
    other = service.root(service.new_organisation())
    create(service, service.root(), billinggroup_id="mine")
    create(service, other, billinggroup_id="theirs")

    assert ids(service, service.root()) == ["mine"]
    assert ids(service, other) == ["theirs"]


@pytest.mark.parametrize("action", [RoleAction.ReadBillingGroup, RoleAction.ModifyBillingGroup])
def test_a_narrowed_caller_sees_only_the_groups_of_the_filter(
    service: Service, action: RoleAction
) -> None:
    seen = [create(service, service.root(), billinggroup_id=f"seen-{n}") for n in range(2)]
    create(service, service.root(), billinggroup_id="hidden")

    narrowed = service.caller(action, billing_groups=seen)

    assert ids(service, narrowed) == ["seen-0", "seen-1"]
    assert ids(service, service.caller(action)) == ["hidden", "seen-0", "seen-1"]


def test_a_filter_on_groups_that_are_not_there_shows_nothing(service: Service) -> None:
    other = service.root(service.new_organisation())
    create(service, service.root(), billinggroup_id="mine")
    theirs = create(service, other, billinggroup_id="theirs")

    narrowed = service.caller(RoleAction.ReadBillingGroup, billing_groups=[theirs, "cmp_never_was"])

    assert ids(service, narrowed) == []


def test_each_group_carries_its_own_settings_and_project(service: Service) -> None:
    add_project(service, "prj_one")
    with_usd = {"aws": SOUND_SETTING | {"currency": "usd"}}
    both = {"aws": SOUND_SETTING, "azure": SOUND_SETTING}
    root = service.root()
    create(service, root, billinggroup_id="1", invoices=with_usd, project_id="prj_one")
    create(service, root, billinggroup_id="2", invoices=both)
    create(service, root, billinggroup_id="3")

    records = service.http.get(PATH, headers=root).json()

    assert [record["invoices"] for record in records] == [with_usd, both, {}]
    assert [record["project_code"] for record in records] == ["code of prj_one", None, None]


def test_a_record_of_the_list_is_the_record_of_the_details(service: Service) -> None:
    company_id = create(
        service, service.root(), billinggroup_id="1", invoices={"aws": SOUND_SETTING}
    )

    (listed,) = service.http.get(PATH, headers=service.root()).json()
    details = service.http.get(f"{PATH}/{company_id}/resource", headers=service.root()).json()

    assert listed == details


def test_each_group_carries_its_own_accounts_by_vendor_and_number(service: Service) -> None:
    root = service.root()
    first, second, _ = [create(service, root, billinggroup_id=one) for one in "123"]
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


def test_each_group_carries_its_own_items_by_vendor(service: Service) -> None:
    root = service.root()
    first, second, _ = [create(service, root, billinggroup_id=one) for one in "123"]
    sent = {
        (first, "azure"): [ITEM | {"label": "b"}, ITEM | {"label": "a"}],
        (first, "aws"): [ITEM],
        (second, "aws"): [ITEM | {"label": "second"}],
    }
    for (company_id, vendor), items in sent.items():
        path = f"{PATH}/{company_id}/freeformat/{vendor}"
        service.http.post(path, json={"additional_items": items}, headers=root)

    records = service.http.get(PATH, headers=root).json()

    assert [record["additional_items"] for record in records] == [
        {"aws": sent[first, "aws"], "azure": sent[first, "azure"]},
        {"aws": sent[second, "aws"]},
        {},
    ]


# ── paging, for those who want it ────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("query", "shown"),
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
def test_a_page_is_a_part_of_the_whole_list(
    running: Service, five_groups: dict[str, str], query: str, shown: str
) -> None:
    whole = running.http.get(PATH, headers=five_groups).json()

    page = running.http.get(PATH + query, headers=five_groups).json()

    assert [record["billinggroup_id"] for record in whole] == list("abcde")
    assert page == [record for record in whole if record["billinggroup_id"] in shown]


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
def test_a_page_that_cannot_be_is_refused(
    running: Service, five_groups: dict[str, str], query: str, field: str
) -> None:
    answer = running.http.get(f"{PATH}?{query}", headers=five_groups)

    edges = {"limit": "1 to 10000", "offset": "0 to 10000000"}
    assert violations_of(answer) == [(field, f"a whole number from {edges[field]}")]


def test_a_page_counts_what_the_caller_may_see(service: Service) -> None:
    groups = [create(service, service.root(), billinggroup_id=one) for one in "abcd"]
    narrowed = service.caller(RoleAction.ReadBillingGroup, billing_groups=[groups[1], groups[3]])

    first = service.http.get(f"{PATH}?limit=1", headers=narrowed).json()
    second = service.http.get(f"{PATH}?limit=1&offset=1", headers=narrowed).json()
    third = service.http.get(f"{PATH}?limit=1&offset=2", headers=narrowed).json()

    pages = [[record["billinggroup_id"] for record in page] for page in (first, second, third)]
    assert pages == [["b"], ["d"], []]
