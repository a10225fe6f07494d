"""POST /m/core/billinggroup"""

import pytest

from nimbill.access.role_actions import RoleAction
from tests.billing_groups.bodies import REQUIRED_FIELDS, SOUND_SETTING
from tests.running_service import Service

PATH = "/m/core/billinggroup"


@pytest.fixture
def manager(service: Service) -> dict[str, str]:
    return service.caller(RoleAction.ModifyBillingGroup)


def test_required_fields_are_enough(service: Service, manager: dict[str, str]) -> None:
    answer = service.http.post(PATH, json=REQUIRED_FIELDS, headers=manager)

    assert answer.status_code == 200
    assert answer.json()["status"] == "success"
    assert answer.json()["billinggroup_id"] == "BG-0001"


def test_every_broken_rule_is_named_at_once(service: Service, manager: dict[str, str]) -> None:
    setting = SOUND_SETTING | {"currency": "eur", "tax_rate": 0.11}

    answer = service.http.post(
        PATH, json=REQUIRED_FIELDS | {"invoices": {"aws": setting}}, headers=manager
    )

    assert answer.status_code == 400
    assert answer.json()["violations"] == [
        {"field": "invoices.aws.currency", "rule": "one of jpy, usd"},
        {"field": "invoices.aws.tax_rate", "rule": "from 0 to 0.10"},
    ]


def test_an_id_in_use_is_refused(service: Service, manager: dict[str, str]) -> None:
    service.http.post(PATH, json=REQUIRED_FIELDS, headers=manager)

    answer = service.http.post(PATH, json=REQUIRED_FIELDS, headers=manager)

    assert answer.status_code == 409
    assert answer.json()["code"] == "billinggroup_id_taken"


def test_a_refused_group_leaves_its_id_free(service: Service, manager: dict[str, str]) -> None:
    unsound = {"invoices": {"aws": SOUND_SETTING | {"currency": "eur"}}}
    service.http.post(PATH, json=REQUIRED_FIELDS | unsound, headers=manager)

    assert service.http.post(PATH, json=REQUIRED_FIELDS, headers=manager).status_code == 200
