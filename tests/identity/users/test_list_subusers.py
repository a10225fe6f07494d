"""GET /m/u/users"""

from datetime import datetime, timedelta

import pytest

from nimbill.access.role_actions import RoleAction
from nimbill.foundation.product import Product
from tests.identity.users.user_requests import TIMESTAMP, add_subuser, list_subusers, post_subuser
from tests.running_service import Service
from tests.subusers import create_subuser


def test_the_list_of_a_new_organisation_is_empty(service: Service) -> None:
    assert list_subusers(service) == []


def test_a_record_has_every_specified_field_and_no_other(service: Service) -> None:
    first = add_subuser(
        service,
        username="Taro-1",
        email="taro@example.com",
        notification={"email": "true"},
        password="a password 1",
    )
    second = add_subuser(service, username="ume_2", email=None)

    assert list_subusers(service) == [
        {
            "user_id": first["user_id"],
            "username": "Taro-1",
            "email": "taro@example.com",
            "root_user": service.organisation.root_user_id,
            "notification": {"email": "true"},
            "create_time": first["create_time"],
        },
        {
            "user_id": second["user_id"],
            "username": "ume_2",
            "email": None,
            "root_user": service.organisation.root_user_id,
            "notification": {"email": "false"},
            "create_time": second["create_time"],
        },
    ]


def test_create_times_have_nine_decimals_and_increase(service: Service) -> None:
    first, second = add_subuser(service, username="zzzz"), add_subuser(service, username="aaaa")

    assert TIMESTAMP.fullmatch(first["create_time"])
    assert TIMESTAMP.fullmatch(second["create_time"])
    earlier, later = (datetime.fromisoformat(record["create_time"]) for record in (first, second))
    assert timedelta(0) < later - earlier < timedelta(minutes=1)


def test_subusers_are_ordered_by_name_in_any_case(service: Service) -> None:
    for username in ("Berta", "anna", "CARLA", "anna_3", "anna.2", "Anna-1", "4our"):
        add_subuser(service, username=username)

    names = [record["username"] for record in list_subusers(service)]

    assert names == ["4our", "anna", "Anna-1", "anna.2", "anna_3", "Berta", "CARLA"]


def test_the_root_user_is_not_listed(service: Service) -> None:
    add_subuser(service)

    assert service.organisation.root_user_id not in {
        record["user_id"] for record in list_subusers(service)
    }


def test_users_of_other_organisations_are_not_listed(service: Service) -> None:
    own = add_subuser(service)
    other = service.new_organisation()
    foreign = post_subuser(service, service.root(other), username="someone").json()

    assert list_subusers(service) == [own]
    assert list_subusers(service, service.root(other)) == [foreign]


@pytest.mark.parametrize("product", [Product.core, Product.portal])
@pytest.mark.parametrize("action", [RoleAction.ReadUsers, RoleAction.ModifyUsers])
def test_a_subuser_with_permission_sees_all_subusers(
    service: Service, action: RoleAction, product: Product
) -> None:
    record = add_subuser(service)
    reader = create_subuser(service, core=[action], portal=[action])

    records = list_subusers(service, reader.headers(product))

    assert {each["user_id"] for each in records} == {record["user_id"], reader.user_id}
    assert records == list_subusers(service)
