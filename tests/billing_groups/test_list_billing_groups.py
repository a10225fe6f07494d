"""GET /m/core/billinggroup"""

from __future__ import annotations

import pytest

from nimbill.access.role_actions import RoleAction
from tests.billing_groups.bodies import SOUND_SETTING
from tests.billing_groups.stored import PATH, add_project, create
from tests.running_service import Service


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
