"""GET /m/auth/rbac/userroles"""

import pytest

from nimbill.foundation.product import Product
from tests.identity.login.token_requests import PRODUCTS
from tests.identity.rbac.role_requests import (
    MAPPINGS,
    add_role,
    build_filter,
    map_roles,
    role_refs,
)
from tests.running_service import Service
from tests.subusers import create_subuser


@pytest.mark.parametrize("product", PRODUCTS)
def test_every_role_and_every_filter_of_the_caller_is_listed(
    service: Service, product: Product
) -> None:
    """The list covers both namespaces, independent of the product of the token."""
    add_role(service, "role-1")
    add_role(service, "role-2", ["ReadTags"], "portal")
    subuser, other = create_subuser(service), create_subuser(service)
    filters = [build_filter("cmp_a"), build_filter("k=v", namespace="portal", type_="tags")]
    map_roles(
        service,
        subuser.user_id,
        role_refs("role-1") + role_refs("role-2", namespace="portal"),
        filters,
    )
    map_roles(service, other.user_id, role_refs("role-1"), [build_filter("cmp_b")])

    response = service.http.get(MAPPINGS, headers=subuser.headers(product))

    users = {"root_user": service.organisation.root_user_id, "sub_user": subuser.user_id}
    assert response.status_code == 200
    assert response.json() == [
        {**users, "namespace": "core", "role": "role-1"},
        {**users, "namespace": "portal", "role": "role-2"},
        {**users, "namespace": "core", "filter": "billingGroup:cmp_a"},
        {**users, "namespace": "portal", "filter": "tags:k=v"},
    ]


@pytest.mark.parametrize("product", PRODUCTS)
def test_the_list_of_a_new_subuser_and_of_the_root_user_is_empty(
    service: Service, product: Product
) -> None:
    subuser = create_subuser(service)

    for headers in (subuser.headers(product), service.root(product=product)):
        response = service.http.get(MAPPINGS, headers=headers)
        assert (response.status_code, response.json()) == (200, [])
