"""GET /m/u/users"""

from datetime import datetime, timedelta

import pytest

from nimbill.access.role_actions import RoleAction
from nimbill.foundation.product import Product
from tests.customers.billing_groups.billing_groups import create_billing_group
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


def test_details_add_roles_and_the_number_of_visible_groups(service: Service) -> None:
    mine, other = (
        create_billing_group(service, service.root(), billinggroup_id=name)
        for name in ("mine", "other")
    )
    filters = [("core", "billingGroup", group) for group in (mine, other)]
    clerk = create_subuser(service, core=["ReadInvoice"], filters=filters, username="clerk")
    nobody = create_subuser(service, portal=["ReadInvoice"], username="nobody")
    manager = create_subuser(
        service, core=["ReadUsers", "ReadRoles"], filters=filters[:1], username="manager"
    )

    def list_access(headers: dict[str, str]) -> dict[str, tuple[list[str], int | None]]:
        response = service.http.get("/m/u/users?details=true", headers=headers)
        return {
            person["username"]: (person["roles"], person["billing_group_count"])
            for person in response.json()
        }

    assert list_access(service.root()) == {
        "clerk": ([f"role-{clerk.user_id[-12:]}"], 2),
        "manager": ([f"role-{manager.user_id[-12:]}"], 1),
        "nobody": ([], None),
    }
    assert list_access(manager.core)["clerk"] == ([f"role-{clerk.user_id[-12:]}"], 1)
    portal = list_access(service.root(product=Product.portal))
    assert portal["nobody"] == ([f"role-{nobody.user_id[-12:]}"], None)


def test_details_need_the_permission_to_read_roles(service: Service) -> None:
    person = create_subuser(service, core=["ReadUsers"], username="reader")

    (shown,) = service.http.get("/m/u/users?details=true", headers=person.core).json()

    assert shown["username"] == "reader"
    assert not {"roles", "billing_group_count"} & shown.keys()
