"""Routes declare the role actions of the specification and of the choices page."""

import re

import pytest

from nimbill.access.role_actions import PERMISSIONS_BY_PRODUCT, RoleAction
from nimbill.foundation.product import Product
from tests.contract.declared_routes import all_routes, protected_routes
from tests.contract.operations import (
    ADDED,
    OPEN_TO_OWN_USER,
    OPERATIONS,
    SPECIFIED,
    routes_with_other_actions,
    routes_without_operation,
)
from tests.contract.specification import read_choice, read_table

# actions that the specification does not name, see the choice offered-permissions
IN_BOTH = {
    "Admin",
    "ReadSettings",
    "ModifySettings",
    "ReadUsers",
    "ModifyUsers",
    "ModifyApiClients",
    "ReadRoles",
    "ModifyRoles",
}
IN_CORE = {
    "ReadCost",
    "ModifyCost",
    "ReadDeployment",
    "ModifyDeployment",
    "ReadAudit",
    "ApproveRequests",
}
IN_PORTAL = {
    "ReadAccount",
    "ReadGroups",
    "ModifyGroups",
    "ReadTags",
    "ReadInvoice",
    "ReadRi",
    "DownloadReports",
    "ReadBudget",
    "ModifyBudget",
}
NAMED = {action for row in SPECIFIED for action in row.actions}


def test_operation_groups_are_the_specified_ones() -> None:
    groups = [[row.group, ", ".join(row.actions)] for row in SPECIFIED]

    assert groups == read_table("Authentication", "Operation group")


def test_the_specification_has_38_operations_and_12_actions() -> None:
    operations = [name for row in SPECIFIED for name in row.operations]

    assert len(operations) == len(set(operations)) == 38
    assert len(NAMED) == 12
    assert not set(operations) & set(ADDED)


def test_routes_declare_the_actions_of_their_operation() -> None:
    assert routes_with_other_actions(protected_routes()) == []


def test_every_protected_route_is_a_known_operation() -> None:
    assert routes_without_operation(protected_routes()) == []


def test_routes_open_to_their_own_user_are_the_chosen_ones() -> None:
    declared = {
        route.operation for route in all_routes() if "own_user_parameter" in route.handler.opt
    }

    assert declared == OPEN_TO_OWN_USER


def test_every_added_operation_has_a_route() -> None:
    existing = {route.operation for route in all_routes()}

    assert set(ADDED) - existing == set()


def test_a_wrong_declaration_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    route = next(route for route in protected_routes() if route.operation == "create_billing_group")
    monkeypatch.setitem(OPERATIONS, "create_billing_group", ("ModifyProject",))

    assert routes_with_other_actions([route]) == [
        "create_billing_group declares ModifyBillingGroup, its row says ModifyProject"
    ]

    monkeypatch.delitem(OPERATIONS, "create_billing_group")

    assert routes_without_operation([route]) == [
        "create_billing_group has no row in tests/contract/operations.py"
    ]


def test_role_actions_are_the_specified_and_the_chosen_ones() -> None:
    assert {action.value for action in RoleAction} == NAMED | IN_BOTH | IN_CORE | IN_PORTAL


def test_the_name_of_an_action_is_its_value() -> None:
    assert [action.name for action in RoleAction] == [action.value for action in RoleAction]


def test_each_namespace_offers_the_chosen_actions() -> None:
    assert set(PERMISSIONS_BY_PRODUCT) == {Product.core, Product.portal}
    assert set(PERMISSIONS_BY_PRODUCT[Product.core]) == IN_BOTH | NAMED | IN_CORE
    assert set(PERMISSIONS_BY_PRODUCT[Product.portal]) == IN_BOTH | IN_PORTAL


def test_no_action_is_offered_twice() -> None:
    for offered in PERMISSIONS_BY_PRODUCT.values():
        assert len(offered) == len(set(offered))


def test_the_choices_page_offers_the_same_actions() -> None:
    assert list_offered_actions(read_choice("offered-permissions")) == [IN_BOTH, IN_CORE, IN_PORTAL]


def list_offered_actions(page: str) -> list[set[str]]:
    """The actions that a page offers in both namespaces, in core and in portal."""
    paragraph = next(
        part
        for part in page.split("\n\n")
        if "ModifyApiClients" in part and "DownloadReports" in part
    )
    start = re.search(r"both namespaces", paragraph, re.IGNORECASE)
    assert start
    parts = re.split(r"`core`|`portal`", paragraph[start.end() :])
    actions = [
        set(re.findall(r"\b(?:Admin|(?:Read|Modify|Download|Approve)[A-Z]\w+)", part))
        for part in parts
    ]
    return [names for names in actions if names][:3]
