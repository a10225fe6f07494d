"""GET /m/auth/rbac/permissions"""

import pytest

from nimbill.foundation.product import Product
from tests.identity.rbac.role_requests import RBAC
from tests.running_service import Service
from tests.subusers import create_subuser

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
    "ApproveRequests",
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
def test_the_permissions_of_each_namespace_are_listed(service: Service, product: Product) -> None:
    """A token is sufficient; the caller needs no role."""
    subuser = create_subuser(service)

    response = service.http.get(f"{RBAC}/permissions", headers=subuser.headers(product))

    assert response.status_code == 200
    assert response.json() == [
        {"namespace": "portal", "permissions": IN_BOTH + IN_PORTAL},
        {"namespace": "core", "permissions": IN_BOTH + IN_CORE},
    ]
