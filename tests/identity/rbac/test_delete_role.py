"""DELETE /m/auth/rbac/roles/{namespace}/{rolename}"""

from tests.answers import problem_of
from tests.identity.rbac.asking import (
    create_role,
    delete_role,
    filtering,
    map_roles,
    mappings_of,
    named,
    new_role,
    permissions_of,
    roles_of,
)
from tests.identity.users.subusers import USERS
from tests.people import new_person
from tests.running_service import Service


def test_a_deleted_role_is_gone(service: Service) -> None:
    new_role(service)
    new_role(service, namespace="portal")

    answer = delete_role(service)

    assert answer.status_code == 200
    assert answer.json() == {"status": "success"}
    assert [role["namespace"] for role in roles_of(service)] == ["portal"]
    assert problem_of(delete_role(service), 404)["code"] == "not_found"


def test_all_its_mappings_go_with_it_and_the_rest_stays(service: Service) -> None:
    new_role(service)
    new_role(service, "another-role", ["ReadCost"])
    new_role(service, namespace="portal")
    people = [new_person(service) for _ in range(3)]
    for person in people:
        roles = named("accounting", "another-role") + named("accounting", namespace="portal")
        map_roles(service, person.user_id, roles, [filtering("cmp_a")])

    delete_role(service)

    for person in people:
        assert mappings_of(service, person.username) == [
            ("core", "another-role"),
            ("portal", "accounting"),
            ("core", "billingGroup:cmp_a"),
        ]
        assert permissions_of(service, person.username)["core"] == ["ReadCost"]


def test_what_it_permitted_is_refused_on_the_next_request(service: Service) -> None:
    new_role(service, permissions=["ReadUsers"])
    person = new_person(service)
    map_roles(service, person.user_id, named("accounting"))
    assert service.http.get(USERS, headers=person.core).status_code == 200

    delete_role(service)

    assert service.http.get(USERS, headers=person.core).status_code == 403


def test_a_new_role_of_the_same_name_is_mapped_to_nobody(service: Service) -> None:
    new_role(service)
    person = new_person(service)
    map_roles(service, person.user_id, named("accounting"))
    delete_role(service)

    new_role(service, permissions=["Admin"])

    assert mappings_of(service, person.username) == []
    assert service.http.get(USERS, headers=person.core).status_code == 403


def test_what_is_not_there_is_not_found(service: Service) -> None:
    new_role(service)
    other = service.new_organisation()
    create_role(service, service.root(other), name="of-others")

    for namespace, role in (
        ("core", "nothing"),
        ("portal", "accounting"),
        ("legacy", "accounting"),
        ("core", "ACCOUNTING"),
        ("core", "of-others"),
    ):
        answer = delete_role(service, role, namespace=namespace)
        assert problem_of(answer, 404)["code"] == "not_found", (namespace, role)
    assert len(roles_of(service)) == 1
    assert len(roles_of(service, service.root(other))) == 1
