"""GET /m/u/users"""

from datetime import datetime, timedelta

import pytest

from nimbill.access.role_actions import RoleAction
from nimbill.foundation.vocabulary import Product
from tests.identity.users.subusers import MOMENT, create, created, listed
from tests.people import new_person
from tests.running_service import Service


def test_nobody_is_listed_where_there_is_nobody(service: Service) -> None:
    assert listed(service) == []


def test_a_record_has_just_these_fields(service: Service) -> None:
    first = created(
        service,
        username="Taro-1",
        email="taro@example.com",
        notification={"email": "true"},
        password="a password 1",
    )
    second = created(service, username="ume_2", email=None)

    assert listed(service) == [
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


def test_times_have_nine_digits_and_follow_each_other(service: Service) -> None:
    first, second = created(service, username="zzzz"), created(service, username="aaaa")

    assert MOMENT.fullmatch(first["create_time"])
    assert MOMENT.fullmatch(second["create_time"])
    earlier, later = (datetime.fromisoformat(one["create_time"]) for one in (first, second))
    assert timedelta(0) < later - earlier < timedelta(minutes=1)


def test_they_stand_in_the_order_of_their_names_without_regard_to_case(service: Service) -> None:
    for username in ("Berta", "anna", "CARLA", "anna_3", "anna.2", "Anna-1", "4our"):
        created(service, username=username)

    names = [record["username"] for record in listed(service)]

    assert names == ["4our", "anna", "Anna-1", "anna.2", "anna_3", "Berta", "CARLA"]


def test_the_root_user_is_no_subuser(service: Service) -> None:
    created(service)

    assert service.organisation.root_user_id not in {one["user_id"] for one in listed(service)}


def test_only_ones_own_organisation_is_listed(service: Service) -> None:
    mine = created(service)
    other = service.new_organisation()
    theirs = create(service, service.root(other), username="someone").json()

    assert listed(service) == [mine]
    assert listed(service, service.root(other)) == [theirs]


@pytest.mark.parametrize("product", [Product.core, Product.portal])
@pytest.mark.parametrize("action", [RoleAction.ReadUsers, RoleAction.ModifyUsers])
def test_a_subuser_who_may_sees_all_and_itself(
    service: Service, action: RoleAction, product: Product
) -> None:
    record = created(service)
    reader = new_person(service, core=[action], portal=[action])

    seen = listed(service, reader.headers(product))

    assert {one["user_id"] for one in seen} == {record["user_id"], reader.user_id}
    assert seen == listed(service)
