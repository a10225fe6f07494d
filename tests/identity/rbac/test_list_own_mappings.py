"""GET /m/auth/rbac/userroles"""

import pytest

from nimbill.foundation.vocabulary import Product
from tests.identity.login.asking import BOTH
from tests.identity.rbac.asking import MAPPINGS, filtering, map_roles, named, new_role
from tests.people import new_person
from tests.running_service import Service


@pytest.mark.parametrize("product", BOTH)
def test_every_role_and_every_filter_of_the_caller_is_told_one_by_one(
    service: Service, product: Product
) -> None:
    """Of both namespaces, whichever the token is for; both users by their ids."""
    new_role(service, "role-1")
    new_role(service, "role-2", ["ReadTags"], "portal")
    person, other = new_person(service), new_person(service)
    filters = [filtering("cmp_a"), filtering("k=v", namespace="portal", type_="tags")]
    map_roles(
        service, person.user_id, named("role-1") + named("role-2", namespace="portal"), filters
    )
    map_roles(service, other.user_id, named("role-1"), [filtering("cmp_b")])

    answer = service.http.get(MAPPINGS, headers=person.headers(product))

    both = {"root_user": service.organisation.root_user_id, "sub_user": person.user_id}
    assert answer.status_code == 200
    assert answer.json() == [
        {**both, "namespace": "core", "role": "role-1"},
        {**both, "namespace": "portal", "role": "role-2"},
        {**both, "namespace": "core", "filter": "billingGroup:cmp_a"},
        {**both, "namespace": "portal", "filter": "tags:k=v"},
    ]


@pytest.mark.parametrize("product", BOTH)
def test_nothing_is_attached_to_a_new_subuser_nor_to_the_root_user(
    service: Service, product: Product
) -> None:
    person = new_person(service)

    for headers in (person.headers(product), service.root(product=product)):
        answer = service.http.get(MAPPINGS, headers=headers)
        assert (answer.status_code, answer.json()) == (200, [])
