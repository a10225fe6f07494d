"""DELETE /m/auth/rbac/roles/{namespace}/{rolename}"""

from tests.identity.rbac.role_requests import (
    add_role,
    build_filter,
    delete_role,
    list_mappings,
    list_permissions,
    list_roles,
    map_roles,
    post_role,
    role_refs,
)
from tests.identity.users.user_requests import USERS
from tests.problem_responses import read_problem
from tests.running_service import Service
from tests.subusers import create_subuser


def test_a_deleted_role_is_not_listed(service: Service) -> None:
    add_role(service)
    add_role(service, namespace="portal")

    response = delete_role(service)

    assert response.status_code == 200
    assert response.json() == {"status": "success"}
    assert [role["namespace"] for role in list_roles(service)] == ["portal"]
    assert read_problem(delete_role(service), 404)["code"] == "not_found"


def test_only_mappings_of_the_role_are_deleted(service: Service) -> None:
    add_role(service)
    add_role(service, "another-role", ["ReadCost"])
    add_role(service, namespace="portal")
    subusers = [create_subuser(service) for _ in range(3)]
    for subuser in subusers:
        roles = role_refs("accounting", "another-role") + role_refs(
            "accounting", namespace="portal"
        )
        map_roles(service, subuser.user_id, roles, [build_filter("cmp_a")])

    delete_role(service)

    for subuser in subusers:
        assert list_mappings(service, subuser.username) == [
            ("core", "another-role"),
            ("portal", "accounting"),
            ("core", "billingGroup:cmp_a"),
        ]
        assert list_permissions(service, subuser.username)["core"] == ["ReadCost"]


def test_its_permissions_are_refused_on_the_next_request(service: Service) -> None:
    add_role(service, permissions=["ReadUsers"])
    subuser = create_subuser(service)
    map_roles(service, subuser.user_id, role_refs("accounting"))
    assert service.http.get(USERS, headers=subuser.core).status_code == 200

    delete_role(service)

    assert service.http.get(USERS, headers=subuser.core).status_code == 403


def test_a_new_role_of_the_same_name_has_no_mappings(service: Service) -> None:
    add_role(service)
    subuser = create_subuser(service)
    map_roles(service, subuser.user_id, role_refs("accounting"))
    delete_role(service)

    add_role(service, permissions=["Admin"])

    assert list_mappings(service, subuser.username) == []
    assert service.http.get(USERS, headers=subuser.core).status_code == 403


def test_unknown_and_foreign_roles_are_not_found(service: Service) -> None:
    add_role(service)
    other = service.new_organisation()
    post_role(service, service.root(other), name="of-others")

    for namespace, role in (
        ("core", "nothing"),
        ("portal", "accounting"),
        ("legacy", "accounting"),
        ("core", "ACCOUNTING"),
        ("core", "of-others"),
    ):
        response = delete_role(service, role, namespace=namespace)
        assert read_problem(response, 404)["code"] == "not_found", (namespace, role)
    assert len(list_roles(service)) == 1
    assert len(list_roles(service, service.root(other))) == 1
