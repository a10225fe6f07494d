"""GET /m/auth/rbac/permissions"""

import pytest

from nimbill.foundation.vocabulary import Product
from tests.identity.rbac.asking import RBAC
from tests.people import new_person
from tests.running_service import Service

IN_BOTH = [
    "Admin",
    "ReadSettings",
    "ModifySettings",
    "ReadUsers",
    "ModifyUsers",
    "ModifyApiClients",
    "ReadRoles",
    "ModifyRoles",
]
IN_CORE = [
    *("ReadReseller", "ModifyReseller"),
    *("ReadRi", "ModifyRi"),
    *("ReadInvoice", "ModifyInvoice"),
    *("ReadBillingGroup", "ModifyBillingGroup"),
    *("ReadAccount", "ModifyAccount"),
    *("ReadProject", "ModifyProject"),
    *("ReadCost", "ModifyCost"),
    *("ReadDeployment", "ModifyDeployment"),
    "ReadAudit",
]
IN_PORTAL = [
    "ReadAccount",
    *("ReadGroups", "ModifyGroups"),
    "ReadTags",
    "ReadInvoice",
    "ReadRi",
    "DownloadReports",
    *("ReadBudget", "ModifyBudget"),
]


@pytest.mark.parametrize("product", [Product.core, Product.portal])
def test_there_is_one_item_per_namespace_with_what_it_offers(
    service: Service, product: Product
) -> None:
    """For whoever has a token, with a role or without."""
    nobody_much = new_person(service)

    answer = service.http.get(f"{RBAC}/permissions", headers=nobody_much.headers(product))

    assert answer.status_code == 200
    assert answer.json() == [
        {"namespace": "portal", "permissions": IN_BOTH + IN_PORTAL},
        {"namespace": "core", "permissions": IN_BOTH + IN_CORE},
    ]
