"""Who may call what: the specification's table, row by row, against what routes declare."""

import re

import pytest

from nimbill.access.role_actions import OFFERED, RoleAction
from nimbill.foundation.vocabulary import Product
from tests.contract.operations import (
    ADDED,
    OPEN_TO_ONESELF,
    OPERATIONS,
    SPECIFIED,
    undeclared,
    wrongly_declared,
)
from tests.contract.routes_of import all_routes, guarded_routes
from tests.contract.specification import (
    ROOT,
    choices_beside_it,
    section,
    specification,
    table,
)

# what the specification does not name but docs/choices.md offers
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
IN_CORE = {"ReadCost", "ModifyCost", "ReadDeployment", "ModifyDeployment", "ReadAudit"}
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


def test_our_table_is_the_table_of_the_specification() -> None:
    ours = [[row.group, ", ".join(row.actions)] for row in SPECIFIED]

    assert ours == table(section(specification(), "Authentication"), "Operation group")


def test_the_table_has_38_operations_and_12_actions() -> None:
    operations = [name for row in SPECIFIED for name in row.operations]

    assert len(operations) == len(set(operations)) == 38
    assert len(NAMED) == 12
    assert not set(operations) & set(ADDED)


def test_routes_declare_the_actions_of_the_table() -> None:
    assert wrongly_declared(guarded_routes()) == []


def test_every_guarded_route_has_a_row() -> None:
    assert undeclared(guarded_routes()) == []


def test_what_is_open_to_oneself_is_what_was_chosen() -> None:
    declared = {route.operation for route in all_routes() if "oneself" in route.handler.opt}

    assert declared == OPEN_TO_ONESELF


def test_a_row_we_added_belongs_to_a_route() -> None:
    """Rows of the specification wait for their routes; ours come with them."""
    existing = {route.operation for route in all_routes()}

    assert set(ADDED) - existing == set()


def test_a_wrong_declaration_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    route = next(route for route in guarded_routes() if route.operation == "create_billing_group")
    monkeypatch.setitem(OPERATIONS, "create_billing_group", ("ModifyProject",))

    assert wrongly_declared([route]) == [
        "create_billing_group declares ModifyBillingGroup, its row says ModifyProject"
    ]

    monkeypatch.delitem(OPERATIONS, "create_billing_group")

    assert undeclared([route]) == [
        "create_billing_group has no row in tests/contract/operations.py"
    ]


def test_the_actions_are_the_specified_ones_and_the_chosen_ones() -> None:
    assert {action.value for action in RoleAction} == NAMED | IN_BOTH | IN_CORE | IN_PORTAL


def test_an_action_is_spelled_as_it_is_named() -> None:
    assert [action.name for action in RoleAction] == [action.value for action in RoleAction]


def test_each_namespace_offers_what_was_chosen() -> None:
    assert set(OFFERED) == {Product.core, Product.portal}
    assert set(OFFERED[Product.core]) == IN_BOTH | NAMED | IN_CORE
    assert set(OFFERED[Product.portal]) == IN_BOTH | IN_PORTAL


def test_nothing_is_offered_twice() -> None:
    for offered in OFFERED.values():
        assert len(offered) == len(set(offered))


@pytest.mark.parametrize("page", ["docs/choices.md", "beside the specification"])
def test_the_pages_name_the_same_actions(page: str) -> None:
    text = (ROOT / page).read_text() if page.endswith(".md") else choices_beside_it()
    in_both, in_core, in_portal = offered_in(text)

    assert in_both == IN_BOTH
    assert in_core == IN_CORE
    assert in_portal == IN_PORTAL


def offered_in(page: str) -> list[set[str]]:
    """The three lists of one paragraph: for both namespaces, for core, for portal."""
    paragraph = next(
        part
        for part in re.split(r"\n\n", page)
        if "ModifyApiClients" in part and "DownloadReports" in part
    )
    start = re.search(r"both namespaces", paragraph, re.IGNORECASE)
    assert start
    lists = re.split(r"`core`|`portal`", paragraph[start.end() :])
    actions = [
        set(re.findall(r"\b(?:Admin|(?:Read|Modify|Download)[A-Z]\w+)", one)) for one in lists
    ]
    return [one for one in actions if one][:3]
